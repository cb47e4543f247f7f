"""Which wavefronts go into which vector, and the tables that tell threads of it."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ctm.sim.engines.fast.parameters import SLOTS, Slot, Table
from ctm.sim.golden.pe.domain import Domain, DomainWavefronts

Integers = npt.NDArray[np.signedinteger]
_OUTSIDE = 1 << 20
"""A coordinate outside of every domain."""
_ENOUGH = 4
"""Vectors in a row of the domain of which one may be partly empty."""
_SHARES, _MOST_SHARE = 32, 16
"""Shares that a thread takes of a segment, and the vectors of one: so few that all threads end at the same time."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Wavefronts in vectors: their positions, and the arrays for compiled code, [vectors * wavefronts of each].

    `covered` is there where it is asked for, [vectors * wavefronts of each, lanes].
    """

    vectors: int
    positions: Integers
    i: Integers
    j: Integers
    covered: npt.NDArray[np.uint8] | None

    @staticmethod
    def of(wavefronts: DomainWavefronts, size: int, *, rows: bool, is_tested: bool) -> "Layout":
        """That of vectors of `size` wavefronts each; see `positions`."""
        each = positions(wavefronts, size, rows=rows)
        vectors = int(each[-1]) // size + 1
        count = vectors * size
        covered = None
        if is_tested:
            covered = np.zeros((count, wavefronts.lanes), np.uint8)
            covered[each] = wavefronts.covered().reshape(-1, wavefronts.lanes)
        i, j = (_placed(origins, each, count) for origins in (wavefronts.i, wavefronts.j))
        return Layout(vectors=vectors, positions=each, i=i, j=j, covered=covered)


def may_keep_rows(domain: Domain, lanes: int, size: int) -> bool:
    """Whether vectors of `size` wavefronts should lie in one row each; in narrow domains they would be empty."""
    columns, _ = domain.shape(lanes)
    return columns % size == 0 or columns >= _ENOUGH * size


def positions(wavefronts: DomainWavefronts, size: int, *, rows: bool) -> Integers:
    """Each wavefront's position in vectors of `size`; with `rows` all wavefronts of a vector are in one row."""
    count = wavefronts.order.size
    order = np.arange(count, dtype=np.int32)
    if not rows or size == 1 or _is_in_rows(wavefronts.j, size):
        return order
    begins = np.ones(count, bool)
    begins[1:] = wavefronts.j[1:] != wavefronts.j[:-1]
    in_row = order - np.maximum.accumulate(np.where(begins, order, 0))
    vectors = np.cumsum(in_row % size == 0) - 1
    result: Integers = vectors * size + in_row % size
    return result


def _placed(origins: Integers, positions: Integers, size: int) -> Integers:
    """Coordinates at their positions among `size`, the others outside of every domain."""
    # Most have all positions in order, and a copy takes as long as making them.
    if positions.size == size and origins.dtype == np.int32:
        return np.ascontiguousarray(origins)
    result: Integers = np.full(size, _OUTSIDE, np.int32)
    result[positions] = origins
    return result


def _is_in_rows(j: Integers, size: int) -> bool:
    """Whether all is well as it is, as in most domains."""
    return j.size % size == 0 and bool((j.reshape(-1, size) == j[::size, None]).all())


@dataclass(frozen=True, kw_only=True)
class Arranged:
    """A layout, and space for a table of each thread, by their addresses; it serves one run at a time.

    After each table is space for the numbers of the vectors that the thread gives back. `given` is what tables begin
    with.
    """

    layout: Layout
    tables: dict[int, Table]
    given: Table

    @classmethod
    def of(cls, layout: Layout, table: Table, threads: int) -> Self:
        """Space for so many threads, of which each begins with `table`; they take vectors from one counter."""
        rows = np.zeros((threads, SLOTS + (layout.vectors + 1) // 2), np.uint64)
        first = rows.ctypes.data
        addresses = [first + number * rows.strides[0] for number in range(threads)]
        given = np.tile(table, (threads, 1))
        given[:, Slot.TAKEN] = first + Slot.COUNTER * rows.itemsize
        given[:, Slot.RETURNED] = [address + SLOTS * rows.itemsize for address in addresses]
        return cls(layout=layout, tables=dict(zip(addresses, rows, strict=True)), given=given)

    def begin(self, threads: int) -> dict[int, Table]:
        """The tables of the first so many threads, as they begin."""
        share = max(1, min(_MOST_SHARE, self.layout.vectors // (_SHARES * threads)))
        tables = dict(list(self.tables.items())[:threads])
        for table, given in zip(tables.values(), self.given, strict=False):
            table[:SLOTS] = given
            table[Slot.SHARE] = share
        return tables
