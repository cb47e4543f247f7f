"""The comparisons are worth something: every planted fault is found by the operands of the ordinary suite."""

import pytest

from ctm.rtl.r5xx.units import UNITS
from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.faults import FAULTS
from ctm.tb.fp.units import ALL_CASES, DEEP, RANDOM_OPERANDS
from ctm.tb.lib.compare import check
from ctm.tb.lib.planting import Fault, planted

TEN = 10


def find(name: str, fault: Fault) -> None:
    """Compare a unit with a fault in it as test_compiled_units does."""
    with planted(fault) as units:
        unit = CompiledUnit(units.UNITS[name](DEEP))
    case = ALL_CASES[name]
    for operands in (case.corners(), case.random(RANDOM_OPERANDS, 1)):
        check(unit(**operands), case.golden(operands), operands)


def test_every_unit_has_ten_faults():
    assert FAULTS.keys() == UNITS.keys()
    assert all(len(set(faults)) >= TEN for faults in FAULTS.values())


@pytest.mark.slow
def test_each_fault_can_be_planted():
    for fault in {fault for faults in FAULTS.values() for fault in faults}:
        with planted(fault):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zero_test"])
def test_some_faults_are_found(name):
    for fault in FAULTS[name][::4]:
        with pytest.raises(AssertionError, match="differ, first at"):
            find(name, fault)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, faults in FAULTS.items() for number in range(len(faults))]
)
def test_faults_are_found(name, number):
    with pytest.raises(AssertionError, match="differ, first at"):
        find(name, FAULTS[name][number])


def test_a_fault_that_no_longer_applies_is_an_error():
    with pytest.raises(ValueError, match="0 times"), planted(Fault("rtl.fp.rounding", "no such text", "")):
        pass
