"""Which seeds and pauses a module of cocotb tests has: variables of the environment say so."""

import os
from collections.abc import Iterable
from itertools import cycle, product
from typing import TypeVar

IS_LONG = os.environ.get("LONG") == "1"
"""Whether everything is wanted."""
PAUSES = [float(number) for number in os.environ.get("PAUSES", "0.0 0.3 0.8").split()]
"""Probabilities that a channel pauses in a cycle."""

_T = TypeVar("_T")


def seeds(count: int) -> range:
    """Seeds of random tests: `count` of them, unless ``FIRST`` and ``COUNT`` say others."""
    first = int(os.environ.get("FIRST", "0"))
    return range(first, first + int(os.environ.get("COUNT", str(count))))


def with_pauses(values: Iterable[_T]) -> list[tuple[_T, float]]:
    """Each value with one of the pauses, cyclically; with all of them in the long suite."""
    return list(product(values, PAUSES)) if IS_LONG else list(zip(values, cycle(PAUSES), strict=False))


def some(values: Iterable[_T], count: int) -> list[_T]:
    """The first values; all of them if everything is wanted."""
    return list(values) if IS_LONG else list(values)[:count]
