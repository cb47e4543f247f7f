"""What the golden model makes of the primitives of a draw, kept for coverage.

The model has no observer for this: its functions are wrapped while it is watched.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.draw import clipping, drawer
from ctm.sim.golden.draw.arithmetic import flush, is_negative, is_outside
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emitted, Shaded, Stages
from ctm.sim.golden.draw.state import DrawState, Stream
from ctm.sim.golden.draw.topology import DRAWN, Primitives
from ctm.sim.golden.r700.draws.stages import R700Stages

_DISTANCES = 8
PLANES = (
    "near, -w", "near, 0", "far", "least w", "right of the guard band", "left of it", "above it", "below it",
    *(f"distance {number}" for number in range(_DISTANCES)),
)  # fmt: skip
"""What cuts triangles."""


@dataclass(frozen=True)
class Clipped:
    """What became of the triangles of a draw.

    `planes` are those of `PLANES` that cut one, `cull_distances` those that dropped one. `outside` and `nan`: one was
    dropped because it is out of view, because a position has a NaN.
    """

    planes: frozenset[str]
    outside: bool
    cull_distances: frozenset[int]
    nan: bool


@dataclass(frozen=True)
class Streamed:
    """What a draw wrote to streams.

    `written` are the streams that got vertices, `disabled` those that its program wrote and that take none. `is_full`:
    a stream had no space for all primitives.
    """

    written: frozenset[int]
    disabled: frozenset[int]
    is_full: bool


class Seen:
    """A context in which the golden model's draws are watched; of several draws the last one is kept.

    Members
    -------
    shapes : None where nothing is drawn
        What set-up made of primitives: points, triangles, and triangles of clipped ones.
    clipped : None where nothing is drawn, and for points
    emitted : None without a geometry program
    streamed : None where no primitive was assembled
    """

    def __init__(self) -> None:
        self.shapes: Shapes | None = None
        self.clipped: Clipped | None = None
        self.emitted: Emitted | None = None
        self.streamed: Streamed | None = None
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        set_up, geometry, stream_out = drawer.shapes_of, R700Stages.geometry, drawer.Drawer._stream_out

        def shapes_of(stages: Stages, state: DrawState, shaded: Shaded, primitives: Primitives, numbers: Any) -> Shapes:
            self.shapes = set_up(stages, state, shaded, primitives, numbers)
            self.clipped = _clipped(stages, state, shaded, primitives)
            return self.shapes

        def emitting(stages: R700Stages, assembly: Any) -> Emitted:
            self.emitted = geometry(stages, assembly)
            return self.emitted

        def streaming(drawing: drawer.Drawer, state: DrawState, shaded: Shaded, primitives: Primitives) -> None:
            before = list(state.streams)
            stream_out(drawing, state, shaded, primitives)
            self.streamed = _streamed(before, state.streams, shaded, primitives)

        self._exits.enter_context(patch.object(drawer, "shapes_of", shapes_of))
        self._exits.enter_context(patch.object(R700Stages, "geometry", emitting))
        self._exits.enter_context(patch.object(drawer.Drawer, "_stream_out", streaming))
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()


def _streamed(before: Sequence[Stream], after: Sequence[Stream], shaded: Shaded, primitives: Primitives) -> Streamed:
    """What a draw wrote, by how far streams were filled before it and after it."""
    used = {number for number, (_, written) in enumerate(shaded.streams) if written.any()}
    enabled = {number for number in used if after[number].dwords and after[number].stride}
    filled = {number: after[number].filled - before[number].filled for number in enabled}
    is_full = any(count < primitives.corners.size * after[number].stride for number, count in filled.items())
    return Streamed(frozenset(number for number, count in filled.items() if count), frozenset(used - enabled), is_full)


def _clipped(stages: Stages, state: DrawState, shaded: Shaded, primitives: Primitives) -> Clipped | None:
    """What becomes of triangles; None for points."""
    count = primitives.corners.shape[1]
    corners = primitives.corners[:, DRAWN[count]]
    if count == 1:
        return None
    position = flush(shaded.position)[corners]
    given = flush(np.concatenate(list(shaded.beside[1:]), axis=1))[corners]
    nan = np.isnan(position).any(axis=(1, 2))
    kept = ~nan & ~clipping.outside(position, state.raster)
    culled = {plane: is_negative(given[..., plane]).all(axis=1) & kept for plane in _set(stages.cull_distances)}
    outside = bool((~nan & ~kept).any())
    for mask in culled.values():
        kept = kept & ~mask
    planes = list(_cuts(position[kept], state)) + [
        (f"distance {plane}", is_outside(given[kept][..., plane])) for plane in _set(stages.clip_distances)
    ]
    found = frozenset(name for name, cut in planes if cut.any(axis=1).any())
    return Clipped(found, outside, frozenset(plane for plane, mask in culled.items() if mask.any()), bool(nan.any()))


def _cuts(position: npt.NDArray[np.float32], state: DrawState) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """The planes of the view that cut triangles, and the vertices that each cuts off, [triangles, 3].

    `position` is [triangles, 3, 4].
    """
    raster = state.raster
    near = () if raster.no_near else (PLANES[1] if raster.clip_zero else PLANES[0],)
    far = () if raster.no_far else (PLANES[2],)
    names = (*near, *far, *PLANES[3:8])
    distances = clipping.planes(raster, state.viewport)
    return [(name, is_outside(distance(position))) for name, distance in zip(names, distances, strict=True)]


def _set(mask: int) -> list[int]:
    """The distances of a mask."""
    return [plane for plane in range(_DISTANCES) if mask >> plane & 1]
