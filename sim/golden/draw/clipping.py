"""Clips triangles against planes in clip space.

Source: docs/draws.md. A vertex of a piece is a position and the weights of the three original vertices in it;
the outputs of programs are never interpolated here. Positions and distances have no denormals.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.draw.arithmetic import (
    add,
    flush,
    is_negative,
    is_outside,
    multiply,
    multiply_add,
    reciprocal,
    subtract,
)
from ctm.sim.golden.draw.state import Raster, Viewport

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]
Distance = Callable[[Floats], Floats]
"""Signed distances [...] of positions [..., 4] from a plane."""

GUARD = 16367
"""Pixels from the viewport's middle in which positions can be snapped."""
LEAST_W = np.float32(2.0**-100)
MOST_VERTICES = 28
"""Of a polygon: 15 planes make 18 of a triangle's three, and more only where rounding bends its sides."""
_PER_GUARD = np.float32(1 / GUARD)
_X, _Y, _Z, _W = range(4)


@dataclass(frozen=True)
class Polygons:
    """Convex polygons of up to M vertices, each a piece of a triangle.

    `position` [n, M, 4] in clip space, `weights` [n, M, 3], `count` [n] of the vertices that are there, `source` [n]:
    which triangle each is of.
    """

    position: Floats
    weights: Floats
    count: Integers
    source: Integers

    @classmethod
    def of_triangles(cls, position: Floats) -> Self:
        """Triangles as they are, of positions [n, 3, 4]."""
        n = position.shape[0]
        weights = np.broadcast_to(np.eye(3, dtype=np.float32), (n, 3, 3))
        return cls(position, weights, np.full(n, 3), np.arange(n))

    def select(self, chosen: Mask) -> Self:
        """Those in `chosen` [n]."""
        return type(self)(self.position[chosen], self.weights[chosen], self.count[chosen], self.source[chosen])


def planes(raster: Raster, viewport: Viewport) -> Iterator[Distance]:
    """The planes, in the order in which pieces are cut."""
    yield from _depth(raster)
    yield _from_least_w
    scale = multiply(flush(np.abs(viewport.scale)), _PER_GUARD)
    for axis in (_X, _Y):
        for side in (scale[axis], -scale[axis]):
            yield partial(_from_guard, axis, side)


def _depth(raster: Raster) -> Iterator[Distance]:
    if not raster.no_near:
        yield _z if raster.clip_zero else _from_near
    if not raster.no_far:
        yield _from_far


def _z(position: Floats) -> Floats:
    return position[..., _Z]


def _from_near(position: Floats) -> Floats:
    return add(position[..., _Z], position[..., _W])


def _from_far(position: Floats) -> Floats:
    return subtract(position[..., _W], position[..., _Z])


def _from_least_w(position: Floats) -> Floats:
    return add(position[..., _W], -LEAST_W)


def _from_guard(axis: int, scale: np.float32, position: Floats) -> Floats:
    return multiply_add(position[..., axis], scale, position[..., _W])


def _from_side(axis: int, side: int, position: Floats) -> Floats:
    return add(position[..., _W], side * position[..., axis])


def view(raster: Raster) -> Iterator[Distance]:
    """The planes of the view: x and y as far as w, and z as far as it is clipped."""
    yield from _depth(raster)
    for axis in (_X, _Y):
        for side in (1, -1):
            yield partial(_from_side, axis, side)


def outside(position: Floats, raster: Raster) -> Mask:
    """Which primitives [n] of positions [n, corners, 4] are outside of one plane of the view as a whole."""
    found = np.zeros(position.shape[0], bool)
    for distance in view(raster):
        found |= is_negative(distance(position)).all(axis=1)
    return found


def cut_by(polygons: Polygons, is_cut: Mask, distance: Callable[[Polygons], Floats]) -> Polygons:
    """Polygons, of which those of the triangles in `is_cut` [triangles] are clipped by their distances [n, M]."""
    chosen = is_cut[polygons.source]
    if not chosen.any():
        return polygons
    distances = np.zeros(polygons.position.shape[:2], np.float32)
    distances[chosen] = distance(polygons.select(chosen))
    return clip(polygons, distances)


def clip(polygons: Polygons, distance: Floats) -> Polygons:
    """What of polygons lies where `distance` [n, M] is not negative; those of which nothing does are dropped.

    A new vertex is made from the one inside outwards: a + t (b - a), t = da * (1 / (da - db)).
    """
    most = polygons.position.shape[1]
    exists = np.arange(most) < polygons.count[:, None]
    cut = np.any(is_outside(distance) & exists, axis=1)
    if not cut.any():
        return polygons
    whole, to_cut = polygons.select(~cut), polygons.select(cut)
    pieces = _cut(to_cut, distance[cut])
    return _joined(whole, pieces)


def _cut(polygons: Polygons, distance: Floats) -> Polygons:
    """Sutherland and Hodgman's step for all polygons at once."""
    n, most = distance.shape
    here = np.arange(most)
    exists = here < polygons.count[:, None]
    following = np.where(here + 1 == polygons.count[:, None], 0, np.minimum(here + 1, most - 1))
    rows = np.arange(n)[:, None]
    after = distance[rows, following]
    keeps = (distance >= 0) & exists
    crosses = ((distance >= 0) != (after >= 0)) & exists
    new = [_between(values, following, distance, after) for values in (polygons.position, polygons.weights)]
    # Each vertex gives itself, if it is inside, and then the crossing after it.
    gives = np.stack([keeps, crosses], axis=2).reshape(n, 2 * most)
    index = np.cumsum(gives, axis=1) - 1
    gives &= index < MOST_VERTICES
    count = gives.sum(axis=1)
    size = max(int(count.max(initial=0)), 3)
    row, source = np.nonzero(gives)
    results = []
    for values, between in zip((polygons.position, polygons.weights), new, strict=True):
        both = np.stack([values, between], axis=2).reshape(n, 2 * most, -1)
        result = np.zeros((n, size, both.shape[2]), np.float32)
        result[row, index[row, source]] = both[row, source]
        results.append(result)
    return Polygons(results[0], results[1], count, polygons.source).select(count >= 3)


def _between(values: Floats, following: Integers, distance: Floats, after: Floats) -> Floats:
    """Values where the edge from each vertex to the next one crosses the plane."""
    rows = np.arange(values.shape[0])[:, None]
    forward = distance >= 0
    near, far = np.where(forward, distance, after), np.where(forward, after, distance)
    t = multiply(near, reciprocal(subtract(near, far)))[..., None]
    next_values = values[rows, following]
    a = np.where(forward[..., None], values, next_values)
    b = np.where(forward[..., None], next_values, values)
    return add(a, multiply(t, subtract(b, a)))


def _joined(one: Polygons, other: Polygons) -> Polygons:
    """Both, in the order of their triangles."""
    size = max(one.position.shape[1], other.position.shape[1])
    arrays = [
        np.concatenate([_padded(getattr(each, name), size) for each in (one, other)])
        for name in ("position", "weights")
    ]
    count = np.concatenate([one.count, other.count])
    source = np.concatenate([one.source, other.source])
    by = np.argsort(source, kind="stable")
    return Polygons(arrays[0][by], arrays[1][by], count[by], source[by])


def _padded(values: Floats, size: int) -> Floats:
    return np.pad(values, ((0, 0), (0, size - values.shape[1]), (0, 0)))


def fans(polygons: Polygons) -> tuple[Integers, Integers]:
    """Polygons as triangles around their first vertex: the polygon of each, [n], and its three vertices, [n, 3]."""
    counts = polygons.count - 2
    owner = np.repeat(np.arange(counts.size), counts)
    number = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.stack([np.zeros_like(number), number + 1, number + 2], axis=1)
