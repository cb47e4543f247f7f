"""Rasterizes shapes: the wavefronts of pixels that they cover, in order.

A strip is the quads of a wavefront: neighbours in one row of quads, aligned to the domain's left even column.
Strips of a shape follow each other in rows upward, and those without a covered pixel are not given.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import QUAD
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.pe.domain import Domain

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]

_CANDIDATES = 1 << 17
"""Lanes that are looked at together."""


@dataclass(frozen=True)
class Strips:
    """Strips in order; lanes are those of `Domain.wavefronts`.

    `shape` [strips]; `i`, `j`, `covered` [strips * lanes]; `edges` [3, strips * lanes]: exact edge values.
    """

    shape: Integers
    i: Integers
    j: Integers
    covered: Mask
    edges: Integers

    def select(self, chosen: slice | Mask, lanes: int) -> "Strips":
        """Some of them."""

        def of(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
            cut = values.reshape(*values.shape[:-1], -1, lanes)[..., chosen, :]
            return cut.reshape(*values.shape[:-1], -1)

        return Strips(self.shape[chosen], *(of(each) for each in (self.i, self.j, self.covered, self.edges)))  # type: ignore[arg-type]


def strips_of(shapes: Shapes, domain: Domain, lanes: int, most: int) -> Iterator[Strips]:
    """The strips of all shapes in the domain, at most `most` lanes together."""
    if domain.is_empty or not shapes.count:
        return
    waiting: list[Strips] = []
    held = 0
    for found in _covered(shapes, domain, lanes):
        waiting.append(found)
        held += found.i.size
        while held >= most:
            whole = _joined(waiting)
            yield whole.select(slice(0, most // lanes), lanes)
            waiting = [whole.select(slice(most // lanes, None), lanes)]
            held = waiting[0].i.size
    if held:
        yield _joined(waiting)


def _joined(strips: list[Strips]) -> Strips:
    if len(strips) == 1:
        return strips[0]
    names = ("shape", "i", "j", "covered", "edges")
    return Strips(*(np.concatenate([getattr(each, name) for each in strips], axis=-1) for name in names))


def bounds_in(shapes: Shapes, domain: Domain) -> Integers:
    """First and last column and row of pixels of each shape in the domain, [n, 4]; none where last < first."""
    low = np.maximum(shapes.bounds[:, ::2], [domain.i0, domain.j0])
    high = np.minimum(shapes.bounds[:, 1::2], [domain.i1, domain.j1])
    # Of one without a column there is no row either.
    high = np.where(np.any(low > high, axis=1)[:, None], low - 1, high)
    return np.stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]], axis=1)


def _covered(shapes: Shapes, domain: Domain, lanes: int) -> Iterator[Strips]:
    """The strips with a covered pixel, shape after shape."""
    left, bottom = domain.i0 & ~1, domain.j0 & ~1
    width = 2 * lanes // QUAD
    first_x, last_x, first_y, last_y = bounds_in(shapes, domain).T
    column, row = (first_x - left) // width, (first_y - bottom) // 2
    columns, rows = (last_x - left) // width - column + 1, (last_y - bottom) // 2 - row + 1
    counts = np.where(first_x > last_x, 0, columns * rows)
    ends = np.cumsum(counts)
    step = _CANDIDATES // lanes
    for first in range(0, int(ends[-1]), step):
        candidates = np.arange(first, min(first + step, int(ends[-1])))
        shape = np.searchsorted(ends, candidates, side="right")
        number = candidates - (ends - counts)[shape]
        i = left + width * (column[shape] + number % columns[shape])
        j = bottom + 2 * (row[shape] + number // columns[shape])
        found = strips_at(shapes, domain, lanes, shape, i, j)
        yield found.select(np.any(found.covered.reshape(-1, lanes), axis=1), lanes)


def strips_at(
    shapes: Shapes, domain: Domain, lanes: int, shape: Integers, first_i: Integers, first_j: Integers
) -> Strips:
    """The strips of shapes whose first lanes are at these pixels, all [strips]."""
    lane = np.arange(lanes)
    i = first_i[:, None] + (2 * (lane // QUAD) + (lane & 1))
    j = first_j[:, None] + (lane >> 1 & 1)
    low_x, high_x, low_y, high_y = bounds_in(shapes, domain)[shape].T[..., None]
    covered = (i >= low_x) & (i <= high_x) & (j >= low_y) & (j <= high_y)
    edges = np.empty((3, *i.shape), np.int64)
    for edge in range(3):
        x, y, constant = shapes.edges[shape, edge].T[..., None]
        edges[edge] = x * i + y * j + constant
        covered &= (edges[edge] > 0) | (edges[edge] == 0) & shapes.ties[shape, edge, None]
    return Strips(shape, i.ravel(), j.ravel(), covered.ravel(), edges.reshape(3, -1))
