"""The comparisons of units of a core find every mistake that is planted in their unit."""

import importlib

import pytest

from ctm.tb.lib.planting import Fault, FaultyLoader, planted
from ctm.tb.r700.parts.faults import FAULTS


def find(test: str, fault: Fault) -> None:
    """Compare a unit with a mistake in it with its model."""
    module = f"ctm.tb.r700.{test}"
    importlib.import_module(module)
    with planted(fault, module, ("ctm.rtl.r700", module)) as faulty:
        faulty.compare()


def test_each_fault_is_planted() -> None:
    for faults in FAULTS.values():
        assert len(set(faults)) == len(faults)
        for fault in faults:
            FaultyLoader(fault)


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "number"), [(test, number) for test, faults in FAULTS.items() for number in range(len(faults))]
)
def test_faults_are_found(test: str, number: int) -> None:
    with pytest.raises(AssertionError):
        find(test, FAULTS[test][number])
