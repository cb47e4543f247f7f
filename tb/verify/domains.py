"""Domains of fewer pixels."""

from collections.abc import Iterator, Sequence


def smaller(domain: Sequence[int]) -> Iterator[list[int]]:
    """Halves of a domain (i0, j0, i1, j1), both ends included: the first and the last columns, then rows."""
    i0, j0, i1, j1 = domain
    if i1 > i0:
        middle = (i0 + i1) // 2
        yield [i0, j0, middle, j1]
        yield [middle + 1, j0, i1, j1]
    if j1 > j0:
        middle = (j0 + j1) // 2
        yield [i0, j0, i1, middle]
        yield [i0, middle + 1, i1, j1]
