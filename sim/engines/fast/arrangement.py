"""Which groups go into which vector, and the tables that tell threads of it."""

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
"""Shares that a thread takes of a part, and the vectors of one: so few that all threads end at the same time."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Groups in vectors: their places, and what code is given of them, [vectors * groups of each].

    `covered` is there where it is asked for, [vectors * groups of each, lanes].
    """

    vectors: int
    places: Integers
    i: Integers
    j: Integers
    covered: npt.NDArray[np.uint8] | None

    @staticmethod
    def of(groups: DomainWavefronts, size: int, *, rows: bool, is_tested: bool) -> "Layout":
        """That of vectors that have `size` places each; see `places`."""
        each = places(groups, size, rows=rows)
        vectors = int(each[-1]) // size + 1
        count = vectors * size
        covered = None
        if is_tested:
            covered = np.zeros((count, groups.lanes), np.uint8)
            covered[each] = groups.covered().reshape(-1, groups.lanes)
        i, j = (_placed(origins, each, count) for origins in (groups.i, groups.j))
        return Layout(vectors=vectors, places=each, i=i, j=j, covered=covered)


def may_keep_rows(domain: Domain, lanes: int, size: int) -> bool:
    """Whether vectors of `size` groups should lie in one row each; in narrow domains that would leave them empty."""
    columns, _ = domain.shape(lanes)
    return columns % size == 0 or columns >= _ENOUGH * size


def places(groups: DomainWavefronts, size: int, *, rows: bool) -> Integers:
    """Each group's place in vectors that have `size` places each; with `rows` all of a vector's are in one row."""
    count = groups.order.size
    order = np.arange(count, dtype=np.int32)
    if not rows or size == 1 or _is_in_rows(groups.j, size):
        return order
    begins = np.ones(count, bool)
    begins[1:] = groups.j[1:] != groups.j[:-1]
    in_row = order - np.maximum.accumulate(np.where(begins, order, 0))
    vectors = np.cumsum(in_row % size == 0) - 1
    result: Integers = vectors * size + in_row % size
    return result


def _placed(origins: Integers, places: Integers, size: int) -> Integers:
    """Coordinates at their places among `size`, the others outside of every domain."""
    # Most have all places in order, and to copy them takes as long as to make them.
    if places.size == size and origins.dtype == np.int32:
        return np.ascontiguousarray(origins)
    result: Integers = np.full(size, _OUTSIDE, np.int32)
    result[places] = origins
    return result


def _is_in_rows(j: Integers, size: int) -> bool:
    """Whether all is well as it is, as in most domains."""
    return j.size % size == 0 and bool((j.reshape(-1, size) == j[::size, None]).all())


@dataclass(frozen=True, kw_only=True)
class Arranged:
    """A layout, and room for a table of each thread, by their addresses; it serves one run at a time.

    Behind each table is room for the numbers of the vectors that the thread gives back. `given` is what tables begin
    with.
    """

    layout: Layout
    tables: dict[int, Table]
    given: Table

    @classmethod
    def of(cls, layout: Layout, table: Table, threads: int) -> Self:
        """Room for so many threads, of which each begins with `table`; they take vectors from one counter."""
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
