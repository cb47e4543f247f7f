"""Recorded draws on the hardware, stepped: registers and masks of each program's wavefronts are the golden model's."""

import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import as_bits
from ctm.sim.debug.walk import Position
from ctm.sim.jobs.loading import load_job
from ctm.tb.draws.recorded import bits, cases, make_job, run
from ctm.tb.lib.machines import machine

_STATE = ("temporaries", "valid_mask", "active", "branch_mask", "continue_mask", "break_mask")
_OTHERS = {
    "cube_indexed": {"VS"}, "cube_nocull_depth": {"VS"}, "gs_instances": {"ES", "GS", "DC"}, "gs_variable": {"DC"},
    "inst_base": {"VS"}, "instanced": {"VS"}, "many_small": {"VS"}, "mesh": {"VS"}, "strip_adj": {"ES", "GS"},
    "xfb_strip_first": {"VS"}, "xfb_tris": {"VS"},
}  # fmt: skip
"""Programs that have threads in other wavefronts than on the golden model, by draw."""


def session_of(path: Path) -> Session:
    return Session(load_job(path), machine("draws"), engine="rtl")


def step_through(wavefront: HardwareWavefront) -> None:
    """Step to a wavefront's end; what exists is the golden model's behind each instruction."""
    while not wavefront.is_over:
        wavefront.advance()
        mine, its = wavefront.batch, wavefront.model.batch
        for name in _STATE:
            one, other = (as_bits(getattr(each, name))[..., mine.covered] for each in (mine, its))
            np.testing.assert_array_equal(one, other, f"step {wavefront.step}, {name}")
        assert len(mine.frames) == len(its.frames)
    assert len(wavefront.recording.moments) == wavefront.step


def stepped(session: Session, number: int) -> bool:
    """Step through a wavefront of this launch; False: the hardware has its threads in other ones."""
    session.go_to(Position(session.position.launch, number, 0))
    assert isinstance(session.wavefront, HardwareWavefront)
    try:
        step_through(session.wavefront)
    except DebugError as error:
        assert re.search("begins otherwise: lane|does not come to the wavefront", str(error))
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _ in cases(("sfn",))])
def test_every_program_of_a_draw_is_stepped(name: str, tmp_path: Path) -> None:
    job = make_job(name, "sfn", tmp_path)
    others = set()
    with session_of(job) as session:
        for launch in count():
            last = len(session.started.order) - 1
            if not all([stepped(session, number) for number in sorted({0, last // 2, last})]):
                others.add(str(session.started.launch.stage))
            try:
                session.go_to(Position(launch + 1, 0, 0))
            except DebugError as error:
                assert str(error) == f"the job has no launch {launch + 1}"
                break
        session.restart()
        assert session.go_on().reason == "finished" and session.result is not None
        assert bits(session.result) == bits(run(job, "golden", 16))
    assert others == _OTHERS.get(name, set())


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


def test_hardware_that_does_not_draw_is_named(tmp_path: Path) -> None:
    job = load_job(make_job("tri_const", "sfn", tmp_path))
    with pytest.raises(DebugError, match="this machine does not draw: --preset r700-draw does"):
        Session(job, PRESETS["r700"], engine="rtl")
