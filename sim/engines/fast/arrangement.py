"""Which groups go into which vector."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.pe.domain import Domain, Groups

Integers = npt.NDArray[np.signedinteger]
_OUTSIDE = 1 << 20
"""A coordinate outside of every domain."""
_ENOUGH = 4
"""Vectors in a row of the domain of which one may be partly empty."""


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
    def of(groups: Groups, size: int, *, rows: bool, is_tested: bool) -> "Layout":
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


def places(groups: Groups, size: int, *, rows: bool) -> Integers:
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
