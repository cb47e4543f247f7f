"""Which groups go into which vector."""

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.pe.domain import Domain, Groups

Integers = npt.NDArray[np.signedinteger]
_ENOUGH = 4
"""Vectors in a row of the domain of which one may be partly empty."""


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


def _is_in_rows(j: Integers, size: int) -> bool:
    """Whether all is well as it is, as in most domains."""
    return j.size % size == 0 and bool((j.reshape(-1, size) == j[::size, None]).all())
