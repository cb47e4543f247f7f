"""Parts of long lists of cases for the quick suite."""

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def some(cases: Sequence[Any], every: int) -> list[Any]:
    """One case of so many is always run, all with --long."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.long) for number, case in enumerate(cases)
    ]


def pairs(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """Every pair of two lists with --long; always so many that each of both lists is in one."""
    one, other = list(enumerate(first)), list(enumerate(second))
    step = min(len(one), len(other))
    return [
        pytest.param(a, b, marks=() if (number - place) % step == 0 else pytest.mark.long)
        for (number, a), (place, b) in product(one, other)
    ]


def only(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """Some cases are always run, all of them with --long."""
    return [case if case in always else pytest.param(case, marks=pytest.mark.long) for case in cases]
