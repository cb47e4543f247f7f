"""What the golden model makes of the primitives of a draw, kept for coverage."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.draw import clipping, drawer
from ctm.sim.golden.draw.arithmetic import flush, is_behind, is_negative
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emitted, Shaded, Stages
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.topology import DRAWN, Primitives
from ctm.sim.golden.r700.draws.stages import R700Stages

_DISTANCES = 8
PLANES = (
    "near, -w", "near, 0", "far", "least w", "right of the guard band", "left of it", "above it", "below it",
    *(f"distance {number}" for number in range(_DISTANCES)),
)  # fmt: skip
"""What cuts triangles."""


@dataclass(frozen=True)
class Cut:
    """What became of triangles: which `PLANES` cut one of those in view, and whether some were out of view."""

    planes: frozenset[str]
    outside: bool
    cull_distances: frozenset[int]
    nan: bool


class Seen:
    """A context in which the golden model's draws are watched; of several draws the last one is kept."""

    def __init__(self) -> None:
        self.shapes: Shapes | None = None
        self.cut: Cut | None = None
        self.emitted: Emitted | None = None
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        usual, geometry = drawer.shapes_of, R700Stages.geometry

        def shapes_of(stages: Stages, state: DrawState, shaded: Shaded, primitives: Primitives, numbers: Any) -> Shapes:
            self.shapes = usual(stages, state, shaded, primitives, numbers)
            self.cut = _cut(stages, state, shaded, primitives)
            return self.shapes

        def emitting(stages: R700Stages, assembly: Any) -> Emitted:
            self.emitted = geometry(stages, assembly)
            return self.emitted

        self._exits.enter_context(patch.object(drawer, "shapes_of", shapes_of))
        self._exits.enter_context(patch.object(R700Stages, "geometry", emitting))
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()


def _cut(stages: Stages, state: DrawState, shaded: Shaded, primitives: Primitives) -> Cut | None:
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
    planes = list(_behind(position[kept], state)) + [
        (f"distance {plane}", is_behind(given[kept][..., plane])) for plane in _set(stages.clip_distances)
    ]
    found = frozenset(name for name, behind in planes if behind.any(axis=1).any())
    return Cut(found, outside, frozenset(plane for plane, mask in culled.items() if mask.any()), bool(nan.any()))


def _behind(position: npt.NDArray[np.float32], state: DrawState) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    raster = state.raster
    near = () if raster.no_near else (PLANES[1] if raster.clip_zero else PLANES[0],)
    far = () if raster.no_far else (PLANES[2],)
    names = (*near, *far, *PLANES[3:8])
    distances = clipping.planes(raster, state.viewport)
    return [(name, is_behind(distance(position))) for name, distance in zip(names, distances, strict=True)]


def _set(mask: int) -> list[int]:
    return [plane for plane in range(_DISTANCES) if mask >> plane & 1]
