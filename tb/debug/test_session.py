"""A session does what the golden model does, instruction by instruction, and goes back to the last bit."""

import io
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.debug import wavefront as wavefronts
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.debug.stopping.expressions import Expression
from ctm.sim.debug.stopping.locations import stop_at, watch
from ctm.sim.debug.walk import Position
from ctm.sim.fault import MachineError
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.tb.debug.jobs import DIVERGENT, config_of, example, program, session_of

EXAMPLES = ("early_out/early_out", "transpose/transpose", "mandelbrot/mandelbrot", "r700/compaction/compaction",
            "r700/mandelbrot/mandelbrot", "r700/reduction/reduction")  # fmt: skip
SAMPLES = [pytest.param(name, marks=pytest.mark.long) if name in ("mandelbrot/mandelbrot", "r700/compaction/compaction")
           else name for name in EXAMPLES]  # fmt: skip
LOOP = """
REP i0
    ALU r1.r = ADD(r1.r, c0.b)
ENDREP
OUT o0 = MOV(r1)
"""


def traced(job: LoadedJob) -> tuple[dict[tuple[int, int], list[list[str]]], dict[int | str, np.ndarray]]:
    """What engine golden's trace says of wavefronts, by their corners, launch after launch; and what the job leaves."""
    lines = io.StringIO()
    execution = Execution(job, engine="golden", config=config_of(job), watchdog=0, trace=lines)
    outputs = execution.run().outputs
    found: dict[tuple[int, int], list[list[str]]] = defaultdict(lambda: [[]])
    for line in lines.getvalue().splitlines():
        _, _, state = line.partition(": (")
        corner, _, states = state.partition(") ")
        i, j = map(int, corner.split(", "))
        if states.split()[2:3] == ["ends"]:
            found[i, j].append([])
        else:
            found[i, j][-1].append(" ".join(states.split()[:2]))
    return {corner: runs[:-1] for corner, runs in found.items()}, outputs


def states(session: Session) -> str:
    """The wavefront's lanes as a trace has them."""
    batch = session.wavefront.batch
    valid = "".join("1" if each else "0" for each in (batch.covered & batch.valid_mask).tolist())
    return f"{''.join(batch.lane_states())} {valid}"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_step_is_a_line_of_the_trace_and_the_job_ends_as_without(name: str) -> None:
    job = example(name)
    lines, outputs = traced(job)
    steps: dict[tuple[int, int], list[list[str]]] = defaultdict(list)
    with session_of(job) as session:
        while session.result is None:
            batch = session.wavefront.batch
            if not session.wavefront.step:
                steps[int(batch.i[0]), int(batch.j[0])].append([])
            event = session.step()
            if event.reason == "step" and session.wavefront.step:
                steps[int(batch.i[0]), int(batch.j[0])][-1].append(states(session))
        result = session.result
    # The trace has a line for the last instruction, after which a session has no next one.
    assert {corner: [run[:-1] for run in runs] for corner, runs in lines.items()} == steps
    assert outputs.keys() == result.outputs.keys()
    for key, array in outputs.items():
        assert array.tobytes() == result.outputs[key].tobytes()


@pytest.mark.parametrize("name", EXAMPLES)
def test_back_restores_every_bit(name: str) -> None:
    with session_of(example(name)) as session:
        session.go_to(Position(0, min(1, len(session.started.order) - 1), 0))
        kept = [session.wavefront.batch.copy()]
        while session.step().reason == "step" and len(kept) < 1200:
            kept.append(session.wavefront.batch.copy())
        for count in (1, 10, 1000):
            if count < session.wavefront.step:
                before = session.wavefront.step
                session.back(count)
                assert session.wavefront.step == before - count
                assert session.wavefront.batch.is_in_state_of(kept[before - count])
                session.step(count)
        session.back(session.wavefront.step)
        assert session.position.step == 0 and session.wavefront.batch.is_in_state_of(kept[0])


def test_checkpoints_are_thinned_and_serve_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wavefronts, "_MOST_BYTES", 200_000)
    job = program(
        LOOP.replace("REP i0", "REP i0\nREP i0\nREP i0").replace("ENDREP", "ENDREP\nENDREP\nENDREP"), tmp_path
    )
    with session_of(job) as session:
        session.step(150)
        kept = session.wavefront.batch.copy()
        session.step(100)
        session.back(100)
        assert session.wavefront.batch.is_in_state_of(kept)


def test_what_is_written_past_the_caches_is_undone_in_reverse_execution() -> None:
    with session_of(example("r700/compaction/compaction")) as session:
        memory = session.started.launch.memory
        buffers = [(each.base, 4096) for each in session.started.launch.outputs[:2] if each.pitch]

        def written() -> list[bytes]:
            return [bytes(memory.bytes[base : base + size]) for base, size in buffers]

        before = written()
        while session.step().reason == "step":
            pass
        after = written()
        session.back(session.wavefront.step)
        assert written() == before != after
        while session.step().reason == "step":
            pass
        assert written() == after


@pytest.mark.parametrize("location", ["9", "wrong", "*8", "p.s:9"])
def test_a_breakpoint_stops_in_front_of_its_line_in_each_wavefront(location: str, tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        number = str(next(unit for unit, text in session.code.texts.items() if "r2.g" in text))
        stop_at(session, f"*{number}" if location.startswith("*") else location.replace("9", "10"))
        for index in range(len(session.started.order)):
            event = session.go_on()
            assert event.reason == "breakpoint" and session.position.wavefront == index
            assert str(session.line) == "p.s:10" and session.unit == int(number)
            assert session.stops[0].hits == index + 1
        assert session.go_on().reason == "finished" and session.result is not None


def test_a_condition_is_of_a_lane_which_is_looked_at_then(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        stop_at(session, "wrong if i > 4 and j == 1 and r2.r >= 2")
        assert session.go_on().reason == "breakpoint"
        batch = session.wavefront.batch
        assert (batch.i[session.lane], batch.j[session.lane]) == (5, 1)
        assert session.value("r2.r").numbers[0, session.lane] == 2
        # The same by hand: no wavefront before has such a lane.
        here = session.position
        session.stops.clear()
        session.go_to(Position(0, 0, 0))
        stop_at(session, "wrong")
        while session.go_on().reason == "breakpoint" and session.position != here:
            assert not (
                np.asarray(session.value("i > 4 and j == 1 and r2.r >= 2")) & session.wavefront.batch.covered
            ).any()
        assert session.position == here


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_many_wavefronts_together_find_is_what_steps_come_to(name: str) -> None:
    job = example(name)
    with session_of(job) as session:
        stop_at(session, "if step == 2 or step == 9")
        session.go_to(session.position._replace(wavefront=0, step=10))
        found = 0
        while found < 3 and session.go_on().reason == "breakpoint":
            found += 1
            here, batch = session.position, session.wavefront.batch.copy()
            session.back(here.step)
            session.step(here.step)
            assert session.position == here and session.wavefront.batch.control == batch.control
            assert session.wavefront.batch.is_in_state_of(batch)
        assert found


def test_a_condition_of_steps_is_of_those_that_were_executed(tmp_path: Path) -> None:
    with session_of(program(LOOP, tmp_path)) as session:
        stop_at(session, "if step == 5")
        # One by one in the first wavefront, together in the next ones.
        found = []
        while session.go_on().reason == "breakpoint":
            found.append(session.position)
        assert found == [Position(0, wavefront, 5) for wavefront in range(8)]


def test_temporary_breakpoints_and_pixels_stop_once(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        stop_at(session, "(7, 3)")
        stop_at(session, "4", is_temporary=True)
        assert session.go_on().reason == "breakpoint" and session.position[:2] == (0, 0)
        assert len(session.stops) == 1
        assert session.go_on().reason == "breakpoint" and session.position.step == 0
        batch = session.wavefront.batch
        assert (batch.i[session.lane], batch.j[session.lane]) == (7, 3)
        assert session.go_on().reason == "finished"


def changes_of(job: LoadedJob, text: str) -> list[Position]:
    """Where stepping finds that a value has changed."""
    found = []
    with session_of(job) as session:
        before = Expression(text).words(session.view, session.wavefront.batch, session.started.launch).copy()
        while session.result is None:
            event = session.step()
            if event.reason != "step":
                continue
            now = Expression(text).words(session.view, session.wavefront.batch, session.started.launch)
            if session.wavefront.step and ((now != before).any(axis=0) & session.wavefront.batch.covered).any():
                found.append(session.position)
            before = now.copy()
    return found


@pytest.mark.parametrize(("source", "texts"), [(LOOP, ["r1", "r1.r > 2"]), (DIVERGENT, ["r1", "r2.r", "active"])])
def test_watching_stops_after_each_change(source: str, texts: list[str], tmp_path: Path) -> None:
    """One by one in the first wavefront, together in the next ones."""
    job = program(source, tmp_path)
    for text in texts:
        with session_of(job) as session:
            watch(session, text)
            found = []
            while session.go_on().reason == "breakpoint":
                found.append(session.position)
                assert len(found) < 200
        assert found == changes_of(job, text)
    with session_of(job) as session:
        watch(session, "r1.r if i == 6 and j == 2")
        while session.go_on().reason == "breakpoint":
            batch = session.wavefront.batch
            assert (batch.i[session.lane], batch.j[session.lane]) == (6, 2)
        assert session.stops[0].hits


def test_back_on_finds_the_last_breakpoint_before_here(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        stop_at(session, "wrong")
        positions = []
        for _ in range(3):
            session.go_on()
            positions.append(session.position)
        assert session.back_on().reason == "breakpoint" and session.position == positions[1]
        session.step(2)
        assert session.back_on().reason == "breakpoint" and session.position == positions[1]
        session.back_on()
        assert session.position == positions[0]
        assert session.back_on().reason == "step" and session.position == Position(0, 0, 0)


def test_launches_follow_each_other_and_are_come_back_to() -> None:
    job = example("early_out/early_out")
    expected = Execution(job, engine="golden", config=config_of(job), watchdog=0).run()
    with session_of(job) as session:
        count = 0
        while session.go_on().reason != "finished":
            count += 1
        assert count == 0
        launches = len(job.launches)
        session.go_to(Position(launches - 1, 3, 2))
        assert session.position == Position(launches - 1, 3, 2)
        session.go_to(Position(0, 1, 1))
        assert session.position == Position(0, 1, 1)
        session.go_on()
        assert session.result is not None
        for key, array in expected.outputs.items():
            assert array.tobytes() == session.result.outputs[key].tobytes()


@pytest.mark.parametrize(
    "name", [pytest.param("bitonic/bitonic", marks=pytest.mark.long), "r700/compaction/compaction"]
)
def test_going_on_runs_every_wavefront_of_every_launch(name: str) -> None:
    job = example(name)
    _, outputs = traced(job)
    with session_of(job) as session:
        assert session.go_on().reason == "finished"
        assert session.result is not None
        found = session.result.outputs
    assert {key: array.tobytes() for key, array in found.items()} == {
        key: array.tobytes() for key, array in outputs.items()
    }
    with session_of(job) as session:
        stop_at(session, "(0, 0)")
        launches = []
        while session.go_on().reason == "breakpoint":
            launches.append(session.position)
    assert launches == [Position(launch, 0, 0) for launch in range(1, len(job.launches))]


def test_a_fault_is_stopped_at_and_looked_back_from(tmp_path: Path) -> None:
    job = program("REP i0\nALU r1.r = ADD(r1.r, c0.b)\nENDREP\nOUT o0 = MOV(r1)\n", tmp_path)
    with session_of(job, watchdog=9) as session:
        event = session.go_on()
        assert event.reason == "fault" and event.error is not None and event.error.status.name == "WATCHDOG"
        assert session.wavefront.step == 9
        with pytest.raises(DebugError, match="`reverse-stepi` looks at what led to it"):
            session.step()
        session.back(2)
        assert session.position == Position(0, 0, 7) and session.step().reason == "step"
    with pytest.raises(MachineError) as plain:
        Execution(job, engine="golden", config=config_of(job), watchdog=9).run()
    assert plain.value.status is event.error.status


def test_a_value_that_is_set_is_what_the_job_goes_on_with(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        stop_at(session, "wrong", is_temporary=True)
        session.go_on()
        session.lane = 1
        session.set("r2", "r", 0x40E0_0000)
        session.set("r2", "b", 0x40A0_0000, lanes=[2])
        session.step()
        session.back(1)
        assert session.value("r2.r").numbers[0, 1] == 7
        session.go_on()
        assert session.result is not None
        output = session.result.outputs[0]
        # Lanes 1 and 2 of the first wavefront are (1, 0) and (0, 1).
        assert output[0, 1, 0] == 7 and output[1, 0, 2] == 5 and output[0, 0, 2] == 0


def test_reverse_execution_takes_the_same_steps(tmp_path: Path) -> None:
    """Two values that are set make more rounds: after each of them the steps are those that follow from it."""
    source = """
ALU r1.r, p.r[!=0] = MAD(r1.r, 1.0, 0.0)
IF p.r
    REP i0
        round: ALU r2.r = ADD(r2.r, c0.b)
    ENDREP
ENDIF
OUT o0 = MOV(r2)
"""
    with session_of(program(source, tmp_path)) as session:
        session.set("r1", "r", 0x3F80_0000, range(4))
        stop_at(session, "round if r2.r != 1 and i == 1")
        steps = []
        while session.finish().reason == "breakpoint":
            steps.append(session.wavefront.step)
            if len(steps) == 2:
                session.set("r2", "r", 0x4120_0000, range(4))
        session.go_to(Position(0, 0, session.wavefront.step))
        back = []
        while (event := session.back_on()).reason == "breakpoint":
            assert session.lane == 1
            back.append((session.wavefront.step, float(session.value("r2.r").numbers[0, 1])))
        # The second one is looked at with the value that was set there.
        assert len(steps) == 4 and [step for step, _ in back] == steps[::-1]
        assert [value for _, value in back] == [12.0, 11.0, 10.0, 0.0]
        assert event.reason == "step" and session.position == Position(0, 0, 0)
        assert session.value("r1.r").numbers[0].tolist() == [1.0] * 4


def test_what_there_is_not_is_an_error_with_what_is_near(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        for text, problem in (
            ("q.s:3", "no file q.s; did you mean p.s"), ("99", "no code at line 99"), ("wrongg", "did you mean wrong"),
            ("*77", "no instruction"), ("(99, 0)", "no wavefront of this launch has the pixel"),
            ("3 if r99.x > 0", "no register r99"), ("3 if r1 > 0", "'r1' has 4 channels"),
            ("3 if", "no condition after"), ("3 if r1.x >", "is no expression"),
            ("3 if r99.x > 0", "the program has r0 to r2$"), ("3 if 1 << 64", "a shift is by 0 to 63 bits"),
            ("3 if 1 >> -1", "a shift is by 0 to 63 bits"), (f"3 if {1 << 70}", "more than 63 bits"),
            ("3 if f(1)", "is not understood"), ("a b", "is no location"),
        ):  # fmt: skip
            with pytest.raises(DebugError, match=problem):
                stop_at(session, text)
        with pytest.raises(DebugError, match="no channel q"):
            session.value("r1.q1")
        session.go_to(Position(0, 3, 2))
        for position, problem in ((Position(7, 0, 0), "has no launch 7"), (Position(0, 8, 0), "has wavefronts 0 to 7")):
            with pytest.raises(DebugError, match=problem):
                session.go_to(position)
            assert session.position == Position(0, 3, 2)
        session.go_to(Position(0, 0, 0))
        with pytest.raises(DebugError, match="c0 cannot be set"):
            session.set("c0", "x", 0)
        assert session.go_on().reason == "finished"
        with pytest.raises(DebugError, match="the job has ended"):
            session.step()
        session.restart()
        assert session.position == Position(0, 0, 0)


def test_a_user_s_exception_leaves_the_session_as_it_is(tmp_path: Path) -> None:
    session = session_of(program(DIVERGENT, tmp_path))
    with pytest.raises(ZeroDivisionError):
        with session:
            session.step(3)
            raise ZeroDivisionError
    assert session.position.step == 3 and session.step().reason == "step"
