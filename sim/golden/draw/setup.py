"""Sets triangles and points up for the raster: window coordinates, facing, edges, and the record that programs read.

Source: docs/draws.md. Window coordinates are snapped to 1/256 pixel. Arithmetic is the machine's, but for edges, which
are exact integers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.draw import clipping
from ctm.sim.golden.draw.arithmetic import (
    add,
    flush,
    is_negative,
    is_outside,
    multiply,
    multiply_add,
    multiply_then_add,
    reciprocal,
    subtract,
)
from ctm.sim.golden.draw.clipping import Distance, Polygons
from ctm.sim.golden.draw.state import Raster, Viewport

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]

SUBPIXELS = 256
RECORD_ROWS = 7
_HALF = np.float32(0.5)
_ONE = np.float32(1)


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """What is drawn, in order: triangles, or squares around points.

    `bounds` [n, 4] are the first and last column and row of pixels that can be covered; `edges` [n, 3, 3] the
    coefficients of the edge values, E = a x + b y + c at pixel (x, y); of a square the bounds are what it covers, and
    its edge values are 0. `ties` [n, 3]: whether a pixel on the edge is inside.
    """

    primitive: Integers
    """The primitive of each, [n]."""
    corners: Integers
    """Numbers of the three original vertices, [n, 3]; of a point three times its own."""
    provoking: Integers
    bounds: Integers
    edges: Integers
    ties: Mask
    record: Floats
    """[n, RECORD_ROWS, 4]."""

    @property
    def count(self) -> int:
        """Number of shapes."""
        return self.primitive.size


@dataclass(frozen=True, kw_only=True)
class Vertices:
    """What the raster needs of shaded vertices, [vertices, ...]."""

    position: Floats
    """[vertices, 4] in clip space."""
    distances: Floats
    """Clip and cull distances, [vertices, 8]."""
    size: Floats
    """Sides of points, in pixels."""


def triangles(
    vertices: Vertices,
    corners: Integers,
    provoking: Integers,
    number: Integers,
    *,
    raster: Raster,
    viewport: Viewport,
    clip_distances: int,
    cull_distances: int,
) -> Shapes:
    """The triangles of corners [n, 3], clipped, culled, and turned so that their areas are positive."""
    position = flush(vertices.position)[corners]
    distances = flush(vertices.distances)[corners]
    kept = ~np.isnan(position).any(axis=(1, 2)) & ~clipping.outside(position, raster)
    for plane in _planes_in(cull_distances):
        kept &= ~is_negative(distances[..., plane]).all(axis=1)
    kept_at = np.flatnonzero(kept)
    position, distances = position[kept], distances[kept]
    polygons, clipped = Polygons.of_triangles(position), np.zeros(kept_at.size, bool)
    for own, of_pieces in _distances(position, distances, raster, viewport, clip_distances):
        is_cut: Mask = np.any(is_outside(own), axis=1)
        clipped |= is_cut
        polygons = clipping.cut_by(polygons, is_cut, of_pieces)
    owner, piece = clipping.fans(polygons)
    source = polygons.source[owner]
    pieces = polygons.position[owner[:, None], piece], polygons.weights[owner[:, None], piece], clipped[source]
    primitive = kept_at[source]
    w_original = vertices.position[corners[primitive], 3]
    return _set_up(
        pieces, w_original, corners[primitive], provoking[primitive], primitive, number[primitive], raster, viewport
    )


def _planes_in(mask: int) -> list[int]:
    return [plane for plane in range(8) if mask >> plane & 1]


def _distances(
    position: Floats, distances: Floats, raster: Raster, viewport: Viewport, clip_distances: int
) -> Iterator[tuple[Floats, Callable[[Polygons], Floats]]]:
    """By planes in order: the distances of triangles, [n, 3], and a function for those of their pieces, [n, M]."""
    for distance in clipping.planes(raster, viewport):
        yield distance(position), partial(_positioned, distance)
    for plane in _planes_in(clip_distances):
        given = distances[..., plane]
        yield given, partial(_weighted, given)


def _positioned(distance: Distance, pieces: Polygons) -> Floats:
    return distance(pieces.position)


def _weighted(given: Floats, pieces: Polygons) -> Floats:
    """A distance [n, 3] of original vertices at those of pieces, [n, M]."""
    first, second, third = np.moveaxis(pieces.weights, -1, 0)
    own = given[pieces.source].T[..., None]
    return multiply_add(third, own[2], multiply_add(second, own[1], multiply(first, own[0])))


def _set_up(
    pieces: tuple[Floats, Floats, Mask],
    w_original: Floats,
    corners: Integers,
    provoking: Integers,
    primitive: Integers,
    number: Integers,
    raster: Raster,
    viewport: Viewport,
) -> Shapes:
    position, weights, clipped = pieces
    inverse, window = _in_window(position, viewport)
    snapped = _snapped(window[..., :2])
    x, y = snapped[..., 0], snapped[..., 1]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    # Rows grow downwards in memory, so a positive area is clockwise.
    front = (area < 0) != raster.front_clockwise
    culled = (front & raster.cull_front) | (~front & raster.cull_back)
    drawn = np.isfinite(window[..., :2]).all(axis=(1, 2)) & (area != 0) & ~culled
    x, y, sign, front = x[drawn], y[drawn], np.sign(area[drawn]), front[drawn]
    edges, ties = _edges(x, y, sign)
    record = _record(
        np.abs(area[drawn]),
        inverse[drawn],
        window[drawn, :, 2],
        front,
        number[drawn],
        weights[drawn],
        clipped[drawn],
        w_original[drawn],
    )
    return Shapes(
        primitive=primitive[drawn], corners=corners[drawn], provoking=provoking[drawn], bounds=_bounds(x, y),
        edges=edges, ties=ties, record=record,
    )  # fmt: skip


def _in_window(position: Floats, viewport: Viewport) -> tuple[Floats, Floats]:
    """1 / w [...] of positions [..., 4], and window coordinates x, y, z [..., 3]."""
    inverse = reciprocal(np.ascontiguousarray(position[..., 3]))
    scale, offset = flush(viewport.scale), flush(viewport.offset)
    axes = [
        multiply_then_add(multiply(position[..., axis], inverse), scale[axis], offset[axis]) for axis in range(3)
    ]  # fmt: skip
    return inverse, np.stack(axes, axis=-1)


def _snapped(window: Floats) -> Integers:
    """Window coordinates in 1/256 pixel from the centre of pixel (0, 0); any where they are not finite."""
    scaled = np.rint(add(window, -_HALF) * np.float32(SUBPIXELS))
    found: Integers = np.nan_to_num(np.clip(scaled, -(2.0**23), 2.0**23), nan=0.0).astype(np.int64)
    return found


def _edges(x: Integers, y: Integers, sign: Integers) -> tuple[Integers, Mask]:
    """Coefficients of the edge values, each of the edge opposite to a vertex, and which take pixels on the edge."""
    coefficients, ties = [], []
    for vertex in range(3):
        first, second = (vertex + 1) % 3, (vertex + 2) % 3
        dx, dy = (x[:, second] - x[:, first]) * sign, (y[:, second] - y[:, first]) * sign
        constant = dy * x[:, first] - dx * y[:, first]
        coefficients.append(np.stack([-dy * SUBPIXELS, dx * SUBPIXELS, constant], axis=1))
        ties.append((dy < 0) | ((dy == 0) & (dx > 0)))
    return np.stack(coefficients, axis=1), np.stack(ties, axis=1)


def _bounds(x: Integers, y: Integers) -> Integers:
    """Columns and rows whose pixel centres can lie inside."""
    lowest = [-(-each.min(axis=1) // SUBPIXELS) for each in (x, y)]
    highest = [each.max(axis=1) // SUBPIXELS for each in (x, y)]
    return np.stack([lowest[0], highest[0], lowest[1], highest[1]], axis=1)


def _record(
    area: Integers,
    inverse: Floats,
    z: Floats,
    front: Mask,
    number: Integers,
    weights: Floats,
    clipped: Mask,
    w_original: Floats,
) -> Floats:
    record = np.zeros((area.size, RECORD_ROWS, 4), np.float32)
    record[:, 0, 0] = reciprocal(area.astype(np.float32))
    record[:, 0, 1:] = inverse
    record[:, 1, :2] = subtract(inverse[:, 1:], inverse[:, :1])
    record[:, 1, 2] = z[:, 0]
    record[:, 1, 3], record[:, 2, 0] = subtract(z[:, 1:], z[:, :1]).T
    record[:, 2, 1] = np.where(front, _ONE, -_ONE)
    record[:, 2, 2] = number.astype(np.uint32).view(np.float32)
    record[:, 2, 3] = clipped
    record[:, 3:6, :3] = weights
    record[:, 6, :3] = w_original
    return record


def points(vertices: Vertices, corners: Integers, number: Integers, *, raster: Raster, viewport: Viewport) -> Shapes:
    """The squares of points [n]: half-open around the snapped centre, dropped where that is outside of the view.

    Record: row 0 the left and the lower end in 1/256 pixel and 1 / side, row 1 z in z, row 2 face and number as of a
    triangle, row 6 w in x.
    """
    position = flush(vertices.position)[corners]
    inside = ~np.isnan(position).any(axis=1)
    for distance in clipping.view(raster):
        inside &= ~is_outside(distance(position))
    _, window = _in_window(position, viewport)
    size = multiply(flush(vertices.size)[corners], _HALF)
    half = np.nan_to_num(np.clip(np.rint(size * np.float32(SUBPIXELS)), 0, 2.0**21)).astype(np.int64)
    drawn = inside & np.isfinite(window[:, :2]).all(axis=1) & (half > 0)
    centre, half = _snapped(window[drawn, :2]), half[drawn]
    low, high = centre - half[:, None], centre + half[:, None]
    n = half.size
    record = np.zeros((n, RECORD_ROWS, 4), np.float32)
    record[:, 0, :2] = low
    record[:, 0, 2] = reciprocal((2 * half).astype(np.float32))
    record[:, 1, 2] = window[drawn, 2]
    record[:, 2, 1] = _ONE
    record[:, 2, 2] = number[drawn].astype(np.uint32).view(np.float32)
    record[:, 6, 0] = vertices.position[corners[drawn], 3]
    first, last = -(-low // SUBPIXELS), -(-high // SUBPIXELS) - 1
    return Shapes(
        primitive=np.flatnonzero(drawn),
        corners=np.repeat(corners[drawn][:, None], 3, axis=1),
        provoking=corners[drawn],
        bounds=np.stack([first[:, 0], last[:, 0], first[:, 1], last[:, 1]], axis=1),
        edges=np.zeros((n, 3, 3), np.int64),
        ties=np.ones((n, 3), bool),
        record=record,
    )
