"""Which vertices form which primitive.

In strips and fans the provoking vertex, which flat inputs come from, is the same corner of every primitive. Triangle
strips with adjacency under the last convention are the exception: their odd triangles are rotated.
Source: docs/draws.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import PrimitiveType

Integers = npt.NDArray[np.signedinteger]
_Columns = tuple[list[Integers], Integers]


@dataclass(frozen=True)
class Primitives:
    """Primitives in their order: positions in the stream of vertices, [n, corners], and the provoking one's, [n]."""

    corners: Integers
    provoking: Integers


@dataclass(frozen=True)
class _Topology:
    """How many primitives a run of n vertices has, and the corners and provoking one of its k-th."""

    count: Callable[[Integers], Integers]
    form: Callable[[Integers, Integers, bool], _Columns]


def primitives_of(kind: PrimitiveType, lengths: Integers, *, provoking_last: bool) -> Primitives:
    """The primitives of runs of vertices between restarts; `lengths` are those of the runs, [any].

    Vertices at the end of a run that form no primitive are ignored.

    Raises
    ------
    KeyError
        The kind is none of `TOPOLOGIES`.
    """
    topology = TOPOLOGIES[kind]
    lengths = lengths.astype(np.int64)
    counts = np.maximum(topology.count(lengths), 0)
    run = np.repeat(np.arange(lengths.size), counts)
    number = np.arange(run.size) - np.repeat(np.cumsum(counts) - counts, counts)
    start = (np.cumsum(lengths) - lengths)[run]
    corners, provoking = topology.form(number, lengths[run], provoking_last)
    return Primitives(np.stack(corners, axis=1) + start[:, None], provoking + start)


def _list(corners: int, last: int, first: int) -> _Topology:
    """Every `corners` vertices; the provoking one of the last and of the first convention."""

    def form(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
        at = corners * k
        return [at + corner for corner in range(corners)], at + (last if provoking_last else first)

    return _Topology(lambda n: n // corners, form)


def _strip(corners: int, last: int, first: int) -> _Topology:
    """Every vertex with those after it."""

    def form(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
        return [k + corner for corner in range(corners)], k + (last if provoking_last else first)

    return _Topology(lambda n: n - corners + 1, form)


def _loop(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
    following = (k + 1) % n
    return [k, following], following if provoking_last else k


def _triangle_strip(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
    odd = k % 2
    if provoking_last:
        return [k + odd, k + 1 - odd, k + 2], k + 2
    return [k, k + 1 + odd, k + 2 - odd], k


def _fan(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
    middle = np.zeros_like(k)
    return ([middle, k + 1, k + 2], k + 2) if provoking_last else ([k + 1, k + 2, middle], k + 1)


def _strip_with_adjacency(k: Integers, n: Integers, provoking_last: bool) -> _Columns:
    """Odd triangles arrive rotated by two positions."""
    first, second, third = 2 * k, 2 * k + 2, 2 * k + 4
    before = np.where(k == 0, 1, 2 * k - 2)
    after = np.where(k == (n - 4) // 2 - 1, 2 * k + 5, 2 * k + 6)
    side, odd = 2 * k + 3, k % 2 == 1
    even_form = (first, before, second, after, third, side)
    odd_form = (first, side, third, after, second, before)
    corners = [np.where(odd, one, other) for one, other in zip(odd_form, even_form, strict=True)]
    return corners, third if provoking_last else first


TOPOLOGIES: dict[PrimitiveType, _Topology] = {
    PrimitiveType.POINTLIST: _list(1, 0, 0),
    PrimitiveType.LINELIST: _list(2, 1, 0),
    PrimitiveType.LINESTRIP: _strip(2, 1, 0),
    PrimitiveType.LINELOOP: _Topology(lambda n: np.where(n > 1, n, 0), _loop),
    PrimitiveType.LINELIST_ADJ: _list(4, 2, 1),
    PrimitiveType.LINESTRIP_ADJ: _strip(4, 2, 1),
    PrimitiveType.TRILIST: _list(3, 2, 0),
    PrimitiveType.TRISTRIP: _Topology(lambda n: n - 2, _triangle_strip),
    PrimitiveType.TRIFAN: _Topology(lambda n: n - 2, _fan),
    PrimitiveType.TRILIST_ADJ: _list(6, 4, 0),
    PrimitiveType.TRISTRIP_ADJ: _Topology(lambda n: (n - 4) // 2, _strip_with_adjacency),
}
"""Those that this machine assembles."""

DRAWN = {1: (0,), 3: (0, 1, 2), 6: (0, 2, 4)}
"""Corners of a primitive that are drawn, by the number of its corners: points and triangles, without neighbours."""
