"""Of a test with many cases every so-manieth one is ordinary."""

from pathlib import Path

import pytest

from ctm.tb.lib.some import RATES, mark

TESTS = """
import pytest

@pytest.mark.parametrize("case", [*range(5), pytest.param(5, marks=pytest.mark.long), *range(6, 9)])
def test_many(case): pass

@pytest.mark.parametrize("case", range(3))
def test_few(case): pass
"""
pytest_plugins = ["pytester"]


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "kept"), [(1, [0, 1, 2, 3, 4, 6, 7, 8]), (3, [0, 3, 7]), (100, [0, 6])])
def test_cases_are_marked(pytester: pytest.Pytester, rate: int, kept: list[int]) -> None:
    items = pytester.getitems(TESTS)
    mark(items, {items[0].path: rate})
    ordinary = [item.name for item in items if not item.get_closest_marker("long")]
    assert ordinary == [*(f"test_many[{case}]" for case in kept), *(f"test_few[{case}]" for case in range(3))]


def test_each_file_that_is_sampled_exists() -> None:
    assert not [path for path in RATES if not path.exists()]


@pytest.mark.slow
def test_other_files_keep_all(pytester: pytest.Pytester) -> None:
    items = pytester.getitems(TESTS)
    mark(items, {Path("other.py"): 4})
    assert sum(item.get_closest_marker("long") is None for item in items) == 11


@pytest.mark.parametrize("path", RATES, ids=lambda path: path.stem)
def test_files_that_are_sampled_are_those_of_the_suite(path: Path) -> None:
    assert path.is_file() and path.is_relative_to(Path(__file__).parent)
