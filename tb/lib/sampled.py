"""Cases of tests that have many of them: the ordinary suite runs some, --long all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

_LEAST = 4
"""Cases of a test that is sampled."""


def mark(items: Iterable[pytest.Item], rates: Mapping[Path, int]) -> None:
    """In the files of `rates`, mark as long all cases of a test but the first of so many.

    A test with few cases keeps them all. Cases that are long already do not count.
    """
    functions = [
        (item, rates[item.path])
        for item in items
        if item.path in rates and isinstance(item, pytest.Function) and not item.get_closest_marker("long")
    ]
    cases = Counter((item.path, item.originalname) for item, _ in functions)
    seen: Counter[tuple[Path, str]] = Counter()
    for item, rate in functions:
        name = item.path, item.originalname
        if cases[name] >= _LEAST and seen[name] % rate:
            item.add_marker(pytest.mark.long)
        seen[name] += 1
