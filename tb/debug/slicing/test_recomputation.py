"""With what a slice lists, and other words in all remaining cells, the value is the same to the last bit."""

from dataclasses import replace
from pathlib import Path

import pytest

from ctm.rtl.config import R700
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import Cell
from ctm.sim.debug.why import why
from ctm.sim.jobs.loading import load_job
from ctm.tb.debug.slicing.launches import caught, choose_lane
from ctm.tb.debug.slicing.necessity import needless
from ctm.tb.debug.slicing.recomputation import targets_of, wrong
from ctm.tb.jobs.single import single
from ctm.tb.r5xx import shaders as r5xx
from ctm.tb.r700 import shaders as r700

_ORDINARY = {
    "r5xx": ("deep_nest", "deriv_linear_noopt", "discard_if", "dots", "loop_divergent", "depth_out"),
    "r700": ("deep_nest_sb", "deriv_sb", "discard_loop_sb", "depth_out_sfn", "const_inline_nosb", "loop_divergent_sfn"),
}  # fmt: skip
"""Some of each kind, which take less than a second."""


_INSTRUCTIONS = {False: 2, True: 40}
"""Of a slice, whose reasons must all be needed: so many in the ordinary suite, and in the long one."""


def programs(kind: str, names: list[str]) -> list[object]:
    assert set(_ORDINARY[kind]) <= set(names)
    return [name if name in _ORDINARY[kind] else pytest.param(name, marks=pytest.mark.long) for name in sorted(names)]


def check(run: object, name: str, instructions: int) -> None:
    with caught() as launches:
        run(name)  # type: ignore[operator]
    for number, launch in enumerate(launches):
        chosen = choose_lane(launch, number + len(name))
        slicer, begin = chosen.slicer(), chosen.wavefront().batch.copy()
        found = slicer.slice(targets_of(slicer, chosen.lane))
        assert found.causes
        if instructions:
            assert not needless(launch.launch, slicer, found, number, instructions)
        assert not wrong(launch.launch, slicer.probe, begin, found, chosen.lane, number)


@pytest.mark.parametrize("name", programs("r5xx", r5xx.NAMES))
def test_compiled_programs_of_r5xx_are_determined_by_their_slices(name: str, is_long: bool) -> None:
    check(lambda name: r5xx.run(r5xx.Shader.load(name), domain=(0, 0, 7, 7)), name, _INSTRUCTIONS[is_long])


@pytest.mark.slow
@pytest.mark.parametrize("name", programs("r700", list(r700.FILES)))
def test_compiled_programs_of_r700_are_determined_by_their_slices(name: str, is_long: bool) -> None:
    # Of the others some reasons matter only together with masks of the stack, or with few words, that are not drawn.
    instructions = _INSTRUCTIONS[is_long] if name in _ORDINARY["r700"] else 0
    check(lambda name: r700.run(r700.Shader.load(name)), name, instructions)


def test_a_reason_that_is_not_needed_is_found() -> None:
    with caught() as launches:
        r5xx.run(r5xx.Shader.load("dots"), domain=(0, 0, 7, 7))
    chosen = choose_lane(launches[0], 1)
    slicer = chosen.slicer()
    found = slicer.slice(targets_of(slicer, chosen.lane))
    assert not needless(launches[0].launch, slicer, found, 1, 1)
    cause = found.causes[0]
    target = next(iter(cause.reasons))
    beside = Cell("temporaries", (len(slicer.track.last.temporaries) - 1, 3), chosen.lane)
    reasons = {**cause.reasons, target: (*cause.reasons[target], beside)}
    poorer = replace(found, causes=(replace(cause, reasons=reasons),))
    assert needless(launches[0].launch, slicer, poorer, 1, 1) == [(cause.step, target, beside)]


def test_a_wavefront_of_one_lane_has_the_reasons_of_a_whole_one(tmp_path: Path) -> None:
    """A copy that is killed ends in front of an instruction, which others execute nevertheless."""
    (tmp_path / "p.s").write_text(".isa r700\nMULADD_IEEE R1.x, R0.x, 2.0, 1.0\nEXPORT_DONE PIX0, R1\n")
    reasons = []
    for side in (1, 8):
        (tmp_path / "job.toml").write_text(single("p.s", side, side))
        with Session(load_job(tmp_path / "job.toml"), R700) as session:
            cause = why(session, "o0[0,0].x").slice.causes[0]
            reasons.append(set(cause.reasons[Cell("outputs", (0, 0), 0)]) - {Cell("valid_mask", (), 0)})
    assert reasons[0] == reasons[1] == {Cell("active", (), 0), Cell("temporaries", (1, 0), 0)}
