"""The domain walk: which pixels form which wavefront.

Work is issued in 2x2 quads aligned to even i and j. A wavefront is `lanes / 4` neighbouring quads of one quad row. In a
quad the lanes are (i, j), (i+1, j), (i, j+1), (i+1, j+1). Wavefronts follow each other in rows that go upward in j, or
in tiles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import QUAD

Integers = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """All pairs i0 <= i <= i1, j0 <= j <= j1. The default is the reset state: the one pair (0, 0)."""

    i0: int = 0
    j0: int = 0
    i1: int = 0
    j1: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is no pair."""
        return self.i0 > self.i1 or self.j0 > self.j1

    def count(self, lanes: int) -> int:
        """Number of wavefronts."""
        columns, rows = self.shape(lanes)
        return columns * rows

    def shape(self, lanes: int) -> tuple[int, int]:
        """Wavefronts in a row, and rows of them."""
        if self.is_empty:
            return 0, 0
        width = 2 * lanes // QUAD
        return -(-((self.i1 | 1) - (self.i0 & ~1) + 1) // width), ((self.j1 | 1) - (self.j0 & ~1) + 1) // 2

    def wavefronts(self, lanes: int, most: int, tiles: Sequence[int] = ()) -> Iterator["DomainWavefronts"]:
        """Yield the domain's wavefronts in order, at most `most` together.

        `tiles` are the sides of square tiles in quads, log2, the smallest first: the wavefronts of a tile follow each
        other in rows, and so do the tiles of the next larger one, and the largest tiles of the domain.
        """
        west, south = self.i0 & ~1, self.j0 & ~1
        width, first, (columns, rows) = 2 * lanes // QUAD, 0, self.shape(lanes)
        walk = _tiled(columns, rows, lanes // QUAD, tiles, most) if tiles else _by_rows(columns, rows, most)
        for column, row in walk:
            order = np.arange(first, first + column.size, dtype=np.int32)
            first += column.size
            yield DomainWavefronts(domain=self, lanes=lanes, order=order, i=west + width * column, j=south + 2 * row)


@dataclass(frozen=True, kw_only=True, eq=False)
class DomainWavefronts:
    """Some wavefronts of a domain walk; arrays do not compare, so each is equal to itself only."""

    domain: Domain
    lanes: int
    order: Integers
    """Index of each wavefront in the walk, [wavefronts]."""
    i: Integers
    j: Integers
    """The pair of each one's first pixel, [wavefronts]."""
    passed: Mask | None = None
    """Pixels that a conditional test let pass, [wavefronts * lanes]; None where none was made."""

    def pairs(self) -> tuple[Integers, Integers]:
        """All pixels' i and j, [wavefronts * lanes]."""
        lane = np.arange(self.lanes)
        i = self.i[:, None] + (2 * (lane // QUAD) + (lane & 1))
        j = self.j[:, None] + (lane >> 1 & 1)
        return i.ravel(), j.ravel()

    def covered(self) -> Mask:
        """Pixels that run: those inside the domain, if no test was made, [wavefronts * lanes]."""
        if self.passed is not None:
            return self.passed
        (i, j), domain = self.pairs(), self.domain
        inside: Mask = (i >= domain.i0) & (i <= domain.i1) & (j >= domain.j0) & (j <= domain.j1)
        return inside

    def inside(self) -> int:
        """Pixels inside the domain."""
        domain = self.domain
        columns = np.minimum(self.i + 2 * self.lanes // QUAD - 1, domain.i1) - np.maximum(self.i, domain.i0) + 1
        rows = np.minimum(self.j + 1, domain.j1) - np.maximum(self.j, domain.j0) + 1
        return int((np.maximum(columns, 0) * rows).sum())

    def slice(self, first: int, end: int) -> "DomainWavefronts":
        """The wavefronts from the `first` to the one before `end`, counted from 0."""
        passed = None if self.passed is None else self.passed[first * self.lanes : end * self.lanes]
        return replace(self, order=self.order[first:end], i=self.i[first:end], j=self.j[first:end], passed=passed)

    def select(self, chosen: Mask) -> "DomainWavefronts":
        """The wavefronts in `chosen` [wavefronts]."""
        passed = None if self.passed is None else self.passed[np.repeat(chosen, self.lanes)]
        return replace(self, order=self.order[chosen], i=self.i[chosen], j=self.j[chosen], passed=passed)


def _by_rows(columns: int, rows: int, most: int) -> Iterator[tuple[Integers, Integers]]:
    """Columns and rows of wavefronts, row after row, `most` at a time."""
    for first in range(0, columns * rows, most):
        last = min(first + most, columns * rows) - 1
        bottom, top = first // columns, last // columns
        chosen = slice(first - bottom * columns, last + 1 - bottom * columns)
        # Of 32 bits, as memory of this size costs more than what is done with it.
        column = np.tile(np.arange(columns, dtype=np.int32), top - bottom + 1)[chosen]
        yield column, np.repeat(np.arange(bottom, top + 1, dtype=np.int32), columns)[chosen]


def _tiled(columns: int, rows: int, quads: int, tiles: Sequence[int], most: int) -> Iterator[tuple[Integers, Integers]]:
    """The same of wavefronts that are `quads` wide, in tiles."""
    i, j = np.arange(0, dtype=np.int32), np.arange(0, dtype=np.int32)
    height = 1 << tiles[-1]
    for bottom in range(0, rows, height):
        index = np.arange(columns * min(height, rows - bottom), dtype=np.int32)
        row, column = bottom + index // columns, index % columns
        by = np.argsort(_keys(column, row, quads, tiles), kind="stable")
        i, j = np.concatenate([i, column[by]]), np.concatenate([j, row[by]])
        while i.size >= most:
            yield i[:most], j[:most]
            i, j = i[most:], j[most:]
    if i.size:
        yield i, j


def _keys(column: Integers, row: Integers, quads: int, tiles: Sequence[int]) -> Integers:
    """Numbers in the order of the walk, of positions in one row of the largest tiles."""
    keys, shift = np.zeros_like(column), 0
    inner_column = inner_row = 0
    for tile in tiles:
        outer_column, outer_row = max(0, tile - quads.bit_length() + 1), tile
        for coordinate, inner, outer in ((column, inner_column, outer_column), (row, inner_row, outer_row)):
            keys |= (coordinate >> inner & (1 << outer - inner) - 1) << shift
            shift += outer - inner
        inner_column, inner_row = outer_column, outer_row
    result: Integers = keys | column >> inner_column << shift
    return result
