"""Cells of coverage that a program is drawn for: chance alone would need millions of programs for the last ones."""

from collections.abc import Sequence
from functools import cache
from random import Random

_ORDER = 20
"""Seed of the order of cells: neighbours in a table are alike, and a program is to have unlike ones."""


@cache
def _shuffled(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(Random(_ORDER).sample(cells, len(cells)))


def aims(cells: Sequence[str], number: int, size: int) -> list[str]:
    """The `size` cells that program `number` is drawn for; consecutive programs go through all of them repeatedly.

    Raises
    ------
    ZeroDivisionError
        There are no cells.
    """
    order = _shuffled(tuple(cells))
    first = number * size
    return [order[at % len(order)] for at in range(first, first + size)]
