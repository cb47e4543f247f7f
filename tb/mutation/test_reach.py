"""Which tests can find a mutant: those that run it, and of hardware those that share a design with them."""

from pathlib import Path

from ctm.tb.mutation.mutants import TOP, Mutant, Source
from ctm.tb.mutation.reach import Test, reaching

HARDWARE = TOP / "rtl/vgt/topology.py"
SOFTWARE = TOP / "sim/golden/draw/strips.py"


def mutant_of(path: Path) -> Mutant:
    return next(mutant for mutant in Source(path).mutants if mutant.in_function)


def names(mutant: Mutant, *lines: dict[Path, set[int]]) -> list[str]:
    """The tests that can find a mutant, of tests 0, 1, ... that run these lines."""
    tests = [Test(str(number), Path("test_it.py"), 0.1, own) for number, own in enumerate(lines)]
    return [test.name for test in reaching(mutant, tests, {})]


def test_a_function_is_found_by_tests_that_run_it() -> None:
    mutant = mutant_of(SOFTWARE)
    own = {SOFTWARE: {mutant.lines[0]}}
    assert names(mutant, {}, own, {SOFTWARE: {0}}, own) == ["1", "3"]


def test_hardware_is_found_by_tests_that_share_the_design() -> None:
    mutant = mutant_of(HARDWARE)
    assert names(mutant, {}, {HARDWARE: {mutant.lines[0]}}, {}) == ["1", "0", "2"]


def test_hardware_that_no_test_describes_is_found_by_none() -> None:
    assert names(mutant_of(HARDWARE), {}, {HARDWARE: {0}}) == []
