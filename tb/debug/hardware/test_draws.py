"""Recorded draws on the hardware, stepped: registers and masks of each program's wavefronts are the golden model's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.sim.debug.console import Console
from ctm.sim.debug.difference import difference_from
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Calls
from ctm.sim.debug.hardware import batches
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.launches import Started
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import as_bits
from ctm.sim.debug.stopping.locations import stop_at
from ctm.sim.debug.texts import Texts
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.device import Device
from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.recorded import bits, cases, make_job, run
from ctm.tb.draws.scene import drawn_on
from ctm.tb.lib.machines import machine

_STATE = ("temporaries", "valid_mask", "active", "branch_mask", "continue_mask", "break_mask")
_OTHERS = {
    "cube_indexed": {"VS"}, "cube_nocull_depth": {"VS"}, "gs_instances": {"ES", "GS", "DC"}, "gs_variable": {"DC"},
    "inst_base": {"VS"}, "instanced": {"VS"}, "many_small": {"VS"}, "mesh": {"VS"}, "strip_adj": {"ES", "GS"},
    "xfb_strip_first": {"VS"}, "xfb_tris": {"VS"},
}  # fmt: skip
"""Programs whose wavefronts have other threads than on engine golden, by draw."""
_PIXEL = (24, 24)
"""One that the recorded mesh and the instanced draw cover."""


def session_of(path: Path, engine: str = "rtl") -> Session:
    return Session(load_job(path), machine("draws"), engine=engine)


def step_through(wavefront: HardwareWavefront) -> None:
    """Step to a wavefront's end; what exists is the golden model's after each instruction."""
    while not wavefront.is_over:
        wavefront.advance()
        mine, its = wavefront.batch, wavefront.model.batch
        for name in _STATE:
            one, other = (as_bits(getattr(each, name))[..., mine.covered] for each in (mine, its))
            np.testing.assert_array_equal(one, other, f"step {wavefront.step}, {name}")
        assert len(mine.frames) == len(its.frames)
    assert len(wavefront.recording.moments) == wavefront.step


def numbers_of(started: Started) -> list[int]:
    """Wavefronts that are stepped: all of threads; of pixels the first, the middle and the last one."""
    last = len(started.order) - 1
    return [*range(last + 1)] if isinstance(started.launch, ThreadLaunch) else sorted({0, last // 2, last})


def begun(started: Started) -> list[Any]:
    """What the threads of each wavefront begin with; nothing of pixels."""
    if not isinstance(started.launch, ThreadLaunch):
        return []
    threads = [i[covered] for i, covered in zip(started.i, started.covered, strict=True)]
    return [{name: values[own].tolist() for name, values in started.launch.registers.items()} for own in threads]


def stages_of(session: Session, *, steps: bool) -> dict[str, list[Any]]:
    """What wavefronts of each program begin with, to the job's end; with `steps` wavefronts are stepped meanwhile."""
    found = {}
    while session.result is None:
        started = session.started
        found[str(started.launch.stage)] = begun(started)
        for number in numbers_of(started) if steps else ():
            session.go_to(Position(started.number, number, 0))
            assert isinstance(session.wavefront, HardwareWavefront)
            step_through(session.wavefront)
        session.go_to(Position(started.number, len(started.order) - 1, 1 << 20))
        session.step()
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _ in cases(("sfn",))])
def test_every_program_of_a_draw_is_stepped(name: str, tmp_path: Path) -> None:
    job = make_job(name, "sfn", tmp_path)
    with session_of(job) as session, session_of(job, "golden") as model:
        here, there = stages_of(session, steps=True), stages_of(model, steps=False)
        assert {stage for stage in here if here[stage] != there[stage]} == _OTHERS.get(name, set())
        session.restart()
        assert session.go_on().reason == "finished" and session.result is not None
        assert bits(session.result) == bits(run(job, "golden", 16))


@pytest.mark.long
@pytest.mark.parametrize("name", ["mesh", "strip_adj"])
def test_batches_that_are_not_the_hardwares_are_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "REUSED", 1)
    with session_of(make_job(name, "sfn", tmp_path)) as session:
        with pytest.raises(DebugError, match=r"begins otherwise: lane \d+ has R\d\.\w = 0x"):
            stages_of(session, steps=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_random_draws_are_stepped_one_after_the_other(seed: int) -> None:
    config = machine("draws")

    def draw(own: Device) -> None:
        for number in (seed, seed + 1):
            drawn_on(scene(number), own)

    with Session(Calls(Device(config=config), draw), config, engine="rtl", watchdog=1 << 20) as session:
        assert stages_of(session, steps=True)


@pytest.mark.long
def test_pixels_have_cycles_and_go_back(tmp_path: Path) -> None:
    with session_of(make_job("depth_out", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 5, 9))
        cycle, words = session.wavefront.cycle, session.value("R0").words.copy()
        session.step(4)
        assert cycle is not None and session.wavefront.cycle is not None and session.wavefront.cycle > cycle
        session.back(4)
        assert session.wavefront.cycle == cycle
        np.testing.assert_array_equal(session.value("R0").words, words)


@pytest.mark.long
def test_threads_of_later_batches_stop_and_go_back(tmp_path: Path) -> None:
    with session_of(make_job("mesh", "sfn", tmp_path)) as session:
        begins, texts = session.started.batches.tolist(), Texts(session)
        assert len(begins) > 2 and f" threads in {len(begins)} batches, " in texts.launch()
        second, later = begins[1] + 17, begins[2]
        for thread in (second, later):
            stop_at(session, f"({thread}, 0)")
        for lane in (1, 0):
            assert session.go_on().reason == "breakpoint"
            assert session.lane == lane and session.position.step == 0
            assert f"lane {lane} vertex {session.value('R0.x').words[0, lane]} " in texts.where()
        cycle, words = session.wavefront.cycle, session.value("R1").words.copy()
        session.step(3)
        session.back(3)
        assert session.wavefront.cycle == cycle
        np.testing.assert_array_equal(session.value("R1").words, words)
        assert session.back_on().reason == "breakpoint" and session.lane == 1
        session.select(later + 5, 0)
        assert (session.lane, session.wavefront.cycle) == (5, cycle)
        for stop in list(session.stops):
            session.remove_stop(stop.number)
        assert session.go_on().reason == "finished"


@pytest.mark.long
@pytest.mark.parametrize("name", ["mesh", "cube_indexed", "instanced"])
def test_why_follows_to_the_same_vertices_as_on_the_golden_model(name: str, tmp_path: Path) -> None:
    job = make_job(name, "sfn", tmp_path)
    rows = []
    for engine in ("rtl", "golden"):
        with session_of(job, engine) as session:
            session.go_to(Position(1, 0, 0))
            rows.append(sorted(why(session, f"o0[{_PIXEL[0]},{_PIXEL[1]}]").rows()))
    # Vertices come in the order in which they are shaded.
    assert rows[0] == rows[1]
    assert any("vertex buffer 0 (element" in row for row in rows[0])


@pytest.mark.long
def test_why_goes_back_through_the_ring_of_a_batch(tmp_path: Path) -> None:
    with session_of(make_job("gs_instances", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 1, 0))
        session.finish()
        assert session.started.batches.tolist()[1] == session.started.i[1, 0]
        assert " of instance 1 " in Texts(session).where()
        rows = list(why(session, "R1.x").rows())
    assert any(row.startswith("launch 0 (ES of draw 0), vertex ") and " of instance 1: " in row for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("position", [Position(0, 1, 0), Position(1, 2, 0)])
def test_diff_of_two_jobs_compares_the_same_threads(position: Position, tmp_path: Path) -> None:
    job = make_job("instanced", "sfn", tmp_path)
    with session_of(job) as session, Session(load_job(job), machine("draws"), batches=True) as other:
        session.go_to(position)
        assert difference_from(session, other) is None
        assert session.position == other.position and session.wavefront.has_ended
    with session_of(job) as session, session_of(job, "golden") as other:
        with pytest.raises(DebugError, match="are in the hardware's wavefronts on engine rtl"):
            difference_from(session, other)
        session.go_to(Position(1, 2, 0))
        assert difference_from(session, other) is None, "pixels are in the same ones"


@pytest.mark.long
def test_diff_leaves_out_lanes_without_a_thread(tmp_path: Path) -> None:
    said: list[str] = []
    with session_of(make_job("instanced", "sfn", tmp_path)) as session:
        console = Console(session, said.append)
        for command in ("goto 0 1 2", "info wavefront", "diff"):
            console.onecmd(command)
        wavefront = session.wavefront
        assert isinstance(wavefront, HardwareWavefront)
        assert not wavefront.batch.covered.all()
        console.onecmd("goto 0 1 2")
        for moment in wavefront.recording.moments[2:]:
            moment.arrays["temporaries"] = moment.arrays["temporaries"].copy()
            moment.arrays["temporaries"].view(np.uint32)[1, 2, 0] ^= 1
        console.onecmd("diff")
    where = [row for row in said if ", wavefront 1 of 4, step 2, lane 0 vertex 0 of instance 1 [" in row]
    assert len(where) == 3
    assert said.count("the wavefront is the same to its end, here and in golden") == 1
    assert [row for row in said if "R1.z = " in row and ", in golden " in row]


def test_hardware_that_does_not_draw_is_named(tmp_path: Path) -> None:
    job = load_job(make_job("tri_const", "sfn", tmp_path))
    with pytest.raises(DebugError, match="this machine does not draw: --preset r700-draw does"):
        Session(job, PRESETS["r700"], engine="rtl")
