"""Rasterizes shapes: the wavefronts of pixels that they cover, in order.

A strip is what a wavefront takes: neighbouring quads of one row of quads, aligned to the domain's left even column.
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
    """Strips in order; lanes are those of `Domain.groups`.

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


def _joined(parts: list[Strips]) -> Strips:
    if len(parts) == 1:
        return parts[0]
    names = ("shape", "i", "j", "covered", "edges")
    return Strips(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names))


def _covered(shapes: Shapes, domain: Domain, lanes: int) -> Iterator[Strips]:
    """The strips with a covered pixel, of some shapes after the others."""
    left, bottom = domain.i0 & ~1, domain.j0 & ~1
    width = 2 * lanes // QUAD
    first_x, last_x = np.maximum(shapes.bounds[:, 0], domain.i0), np.minimum(shapes.bounds[:, 1], domain.i1)
    first_y, last_y = np.maximum(shapes.bounds[:, 2], domain.j0), np.minimum(shapes.bounds[:, 3], domain.j1)
    column, row = (first_x - left) // width, (first_y - bottom) // 2
    columns, rows = (last_x - left) // width - column + 1, (last_y - bottom) // 2 - row + 1
    counts = np.where((first_x > last_x) | (first_y > last_y), 0, columns * rows)
    ends = np.cumsum(counts)
    lane = np.arange(lanes)
    right, up = 2 * (lane // QUAD) + (lane & 1), lane >> 1 & 1
    step = _CANDIDATES // lanes
    for first in range(0, int(ends[-1]), step):
        candidates = np.arange(first, min(first + step, int(ends[-1])))
        shape = np.searchsorted(ends, candidates, side="right")
        number = candidates - (ends - counts)[shape]
        i = (left + width * (column[shape] + number % columns[shape]))[:, None] + right
        j = (bottom + 2 * (row[shape] + number // columns[shape]))[:, None] + up
        edges = np.stack([
            shapes.edges[shape, edge, 0, None] * i + shapes.edges[shape, edge, 1, None] * j
            + shapes.edges[shape, edge, 2, None]
            for edge in range(3)
        ])  # fmt: skip
        inside = (i >= first_x[shape, None]) & (i <= last_x[shape, None])
        inside &= (j >= first_y[shape, None]) & (j <= last_y[shape, None])
        for edge in range(3):
            inside &= (edges[edge] > 0) | (edges[edge] == 0) & shapes.ties[shape, edge, None]
        chosen = inside.any(axis=1)
        yield Strips(
            shape[chosen], i[chosen].ravel(), j[chosen].ravel(), inside[chosen].ravel(), edges[:, chosen].reshape(3, -1)
        )
