"""The comparison is worth something: random programs as those of the ordinary suite find every planted mistake."""

import importlib
import importlib.util

import pytest

from ctm.tb.lib.planting import Fault, FaultyLoader, planted_in_all
from ctm.tb.r700.hardware.faults import FAULTS, SLICED

_PACKAGES = ("ctm.rtl", "ctm.sim", "ctm.tb.r700", "ctm.sim.compiled.fields")
"""All that knows the hardware; the golden model shares its declarations."""


def find(fault: Fault, preset: str) -> None:
    """Compare the programs on a core with a mistake in it."""
    with planted_in_all(fault, _PACKAGES):
        comparison = importlib.import_module("ctm.tb.r700.hardware.drawn")
        config = importlib.import_module("ctm.rtl.config").PRESETS[preset]
        engine = importlib.import_module("ctm.tb.r700.hardware.traced").TracedEngine(config, made_from=repr(fault))
        for name in comparison.DRAWN:
            comparison.check(name, range(comparison.PROGRAMS), lambda _: engine)


def test_each_fault_is_planted() -> None:
    faults = [*FAULTS, *SLICED]
    assert len(set(faults)) == len(faults)
    for fault in faults:
        FaultyLoader(fault)


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_faults_are_found(number: int) -> None:
    with pytest.raises(AssertionError, match="seed"):
        find(FAULTS[number], "r700")


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(SLICED)))
def test_faults_of_slices_are_found(number: int) -> None:
    with pytest.raises(AssertionError, match="seed"):
        find(SLICED[number], "r700-small")
