"""Stops after stores to memory, and slices of what a program stores and reads again."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.debug.console import Console
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.debug.stopping.locations import store_of, watch
from ctm.sim.debug.why import why
from ctm.sim.golden.mc.elements import read
from ctm.sim.jobs.loading import load_job
from ctm.tb.debug.jobs import DIVERGENT, example, program, race, session_of


def test_an_element_is_watched_in_every_launch() -> None:
    """Passes write to two images alternately."""
    with session_of(example("bitonic/bitonic", 8, 2)) as session:
        stop = watch(session, "o0[1,0]")
        for launch in range(5):
            assert session.go_on().stop is stop
            assert session.position.launch == launch


def test_reverse_execution_over_what_was_set_stops_after_stores(tmp_path: Path) -> None:
    with session_of(race(tmp_path)) as session:
        stop = watch(session, "o0[0,0]")
        assert session.go_on().stop is stop
        first = session.position
        session.set("R2", "y", 9)
        assert session.go_on().stop is stop
        assert session.back_on().stop is stop
        assert session.position == first


def stored(session: Session, i: int, j: int) -> float:
    """What output 0 holds at coordinates now."""
    launch = session.started.launch
    return float(read(launch.memory, launch.outputs[0], np.array([i]), np.array([j]))[0, 0])


def test_stores_to_an_element_stop_where_they_are_done(tmp_path: Path) -> None:
    with session_of(race(tmp_path)) as session:
        stop = watch(session, "o0[3,2]")
        event = session.go_on()
        assert event.stop is stop
        assert (session.position.wavefront, session.position.step) == (1, 7)
        batch = session.wavefront.batch
        assert (batch.i[session.lane], batch.j[session.lane]) == (3, 2)
        assert stored(session, 3, 2) == 3
        assert session.go_on().stop is stop
        # The neighbour's: the program reads across the pair.
        assert stored(session, 3, 2) == 2
        assert session.go_on().reason == "finished"
        assert stop.hits == 2


def test_outputs_are_stored_at_a_wavefronts_end_and_conditions_choose(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        stop = watch(session, "o0[5,1]")
        other = watch(session, "o0[0,0] if r2.g > 1000")
        assert session.go_on().stop is stop
        assert session.wavefront.has_ended
        assert session.wavefront.batch.i[session.lane] == 5
        session.step(2)
        back = session.back_on()
        assert back.stop is stop
        assert session.wavefront.has_ended
        assert session.go_on().reason == "finished"
        assert not other.hits


def test_an_address_is_watched_as_a_word(tmp_path: Path) -> None:
    with session_of(race(tmp_path)) as session:
        element = store_of(session.started.launch, "o0[0,0]")
        assert element is not None
        area = element.area(session.started.launch)
        assert area is not None
        watch(session, f"*0x{area.first:x}")
        assert session.go_on().stop is not None
        assert session.wavefront.batch.i[session.lane] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("o0[9,0]", r"no element \(9, 0\): it is 8 x 4"),
        ("o3[0,0]", "no output o3; there is: o0"),
        ("*0xffffffff", "no address"),
        ("", "takes EXPRESSION"),
    ],
)
def test_what_is_not_there_is_not_watched(text: str, message: str, tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session, pytest.raises(DebugError, match=message):
        watch(session, text)


def test_a_slice_goes_through_memory_to_the_lane_that_stored(tmp_path: Path) -> None:
    with session_of(race(tmp_path)) as session:
        explanation = why(session, "o0[3,2]")
        rows = list(explanation.rows())
        assert rows[0] == "o0[3,2]: o0[3,2] = 2"
        assert any("o0[2,2] = 2 from" in row and "R0.x of lane 4 = 2" in row for row in rows), rows
        assert not explanation.slice.elements, "what the program stored itself is no input"
        assert session.position == (0, 0, 0)
        with pytest.raises(DebugError, match="no channel w"):
            why(session, "o0[3,2].w")


CHOSEN = """
.uncached_writes
; The pixels from column 3 on store a second time.
.equ packet = r1
ALU packet.r = MOV(c0.g)
ALU packet.gb = MOV(r0.rrg)
OUT umrt[per_processor_idx] = MOV(packet)
ALU r2.r, p.r[>=0] = ADD(r0.r, -2.5)
IF p.r
    ALU packet.r = MOV(c0.b)
    OUT umrt[per_processor_idx] = MOV(packet)
ENDIF
"""


def test_a_store_that_a_lane_did_not_make_counts(tmp_path: Path) -> None:
    program(CHOSEN, tmp_path)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text().replace("FLOAT32_4", "FLOAT32_1"))
    with session_of(load_job(job)) as session:
        once, twice = why(session, "o0[2,1]"), why(session, "o0[3,1]")
        for explanation, number, constant in ((once, 2, "c0.g"), (twice, 1, "c0.b")):
            rows = list(explanation.rows())
            assert rows[0] == f"{explanation.text}: {explanation.text} = {number}"
            assert any(row.startswith(f"constants: {constant} = {number}") for row in rows), rows
            assert ("p.s", 8) in explanation.lines, "the condition decides"
        assert any("o0[2,1] keeps 2 by active = 0" in row for row in once.rows())
        assert not any("of lane" in row for explanation in (once, twice) for row in explanation.rows())


def test_why_says_what_it_can_and_leaves_the_session_where_it_was(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        session.select(4, 1)
        session.step(3)
        here, lane = session.position, session.lane
        said: list[str] = []
        console = Console(session, said.append)
        for text in ("o0[2,3]", "r1.r", "r1", "p.r", "active", "r99", "r1.n", "o0[99,0]"):
            console.onecmd(f"why {text}")
            assert (session.position, session.lane) == (here, lane)
        assert said[0].startswith("o0[2,3]: ")
        errors = [row for row in said if row.startswith("error: ")]
        assert len(errors) == 3
        assert "no register r99" in errors[0]
        assert "no channel n" in errors[1]


def test_what_was_set_by_hand_is_where_a_slice_begins(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        session.step(2)
        for channel in "rg":
            session.set("r0", channel, 0x40400000)
        while session.step().reason == "step" and not session.wavefront.has_ended:
            pass
        rows = list(why(session, "r2.g").rows())
        assert "r2.g = 9" in rows[0]
        assert rows[-2] == "at step 2: r0.r = 3, r0.g = 3"


def test_a_pixel_that_is_not_stored_says_so() -> None:
    with session_of(example("early_out/early_out")) as session:
        started = session.started
        for index in range(len(started.order)):
            i, j = int(started.i[index, 0]), int(started.j[index, 0])
            rows = list(why(session, f"o0[{i},{j}]").rows())
            assert rows[0].startswith(f"o0[{i},{j}]: ")
            if index == 3:
                break
