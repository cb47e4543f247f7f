"""The comparisons are worth something: every planted mistake is found by operands as those of the ordinary suite."""

import pytest

from ctm.rtl.config import PipelineConfig
from ctm.sim.compiled import CompiledUnit
from ctm.tb.lib.planting import Fault, FaultyLoader, planted
from ctm.tb.lib.words import CORNERS
from ctm.tb.r700.lane.batches import corner_batches, family_batches, random_batches, reduction_batches
from ctm.tb.r700.lane.faults import FAULTS
from ctm.tb.r700.lane.groups import check
from ctm.tb.r700.lane.trans_batches import random_trans

_LANE = "ctm.tb.r700.lane.decoded_lane"
_PACKAGES = ("ctm.rtl.fp", "ctm.rtl.lib", "ctm.rtl.r700", _LANE)


def find(fault: Fault) -> None:
    """Compare a lane with a mistake in it with the golden model."""
    with planted(fault, _LANE, _PACKAGES) as module:
        unit = CompiledUnit(module.DecodedLane(PipelineConfig()))
    check(unit, list(corner_batches(CORNERS[::4])))
    check(unit, list(reduction_batches(10_000, 1)))
    check(unit, random_trans(50_000, 2))
    check(unit, list(random_batches(300, 500, 3)))
    check(unit, list(family_batches(["MUL", "MULADD_IEEE"], 20_000, 4)))


def test_each_fault_is_planted() -> None:
    assert len(set(FAULTS)) == len(FAULTS)
    for fault in FAULTS:
        FaultyLoader(fault)


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_faults_are_found(number: int) -> None:
    with pytest.raises(AssertionError, match=r"differ in slot"):
        find(FAULTS[number])
