"""The checks are worth something: every mistake that is planted in the model is found."""

import pytest

from ctm.tb.lib.planting import FaultyLoader, checks, planted_in_all
from ctm.tb.r700.mutants import MUTANTS, Mutant

_PACKAGES = ("ctm.sim.golden.r700", "ctm.sim.golden.instruction_sets", "ctm.sim.golden.machine", "ctm.tb.r700")
"""What has to be imported anew to have a mistake in the model: it, and what runs it."""
_QUICK = 4
"""Of so many mutants one is tried by the ordinary suite."""


def run_check(mutant: Mutant) -> None:
    getattr(checks(f"r700.{mutant.module}"), mutant.check)(*mutant.arguments)


def find(mutant: Mutant) -> None:
    """Plant a mistake and see that its check fails, which holds without it."""
    run_check(mutant)
    with planted_in_all(mutant.fault, _PACKAGES), pytest.raises((AssertionError, IndexError)):
        run_check(mutant)
    run_check(mutant)


def test_mistakes_have_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 24


def test_each_mistake_is_planted() -> None:
    for mutant in MUTANTS:
        FaultyLoader(mutant.fault)


@pytest.mark.parametrize("mutant", MUTANTS[2::_QUICK], ids=str)
def test_some_are_found(mutant: Mutant) -> None:
    find(mutant)


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_all_are_found(mutant: Mutant) -> None:
    find(mutant)
