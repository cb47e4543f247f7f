"""A draw in front of the rasterizer: state, vertices and primitives, packed for the unit; what golden makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ctm.rtl.border.draws import CORNERS, DISTANCES, POSITION_VECTORS, RASTER_STATE, primitive_layout
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.word import pack
from ctm.sim.golden.draw import setup
from ctm.sim.golden.draw.setup import Shapes, Vertices
from ctm.sim.golden.draw.state import Raster, Viewport
from ctm.sim.golden.draw.strips import Strips, strips_of
from ctm.sim.golden.pe.domain import Domain

F = np.float32
_MOST_LANES = 1 << 20


def plain_viewport(width: float = 64, height: float = 48) -> Viewport:
    """Of that many pixels."""
    half = np.array([width / 2, height / 2, 0.5], F)
    return Viewport(scale=half, offset=half.copy())


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Positions [n, 4], sizes [n] and distances [n, 8] of vertices; corners of primitives [m, 3], of points [m, 1]."""

    position: np.ndarray
    corners: np.ndarray
    distances: np.ndarray | None = None
    size: np.ndarray | None = None
    provoking: np.ndarray | None = None
    number: np.ndarray | None = None
    raster: Raster = field(default_factory=Raster)
    viewport: Viewport = field(default_factory=plain_viewport)
    domain: Domain = field(default_factory=lambda: Domain(i0=0, j0=0, i1=63, j1=47))
    clip_distances: int = 0
    cull_distances: int = 0

    @property
    def is_points(self) -> bool:
        """Whether primitives are points."""
        return self.corners.shape[1] == 1

    @property
    def numbers(self) -> np.ndarray:
        """The number of each primitive."""
        return 5 * np.arange(len(self.corners)) + 3 if self.number is None else self.number

    @property
    def provokings(self) -> np.ndarray:
        """The provoking vertex of each."""
        return self.corners[:, -1] if self.provoking is None else self.provoking

    @property
    def all_distances(self) -> np.ndarray:
        """Distances, 0 where there are none."""
        return np.zeros((len(self.position), DISTANCES), F) if self.distances is None else self.distances

    @property
    def sizes(self) -> np.ndarray:
        """Sizes that programs export, any where there are none."""
        return np.full(len(self.position), np.nan, F) if self.size is None else self.size

    def chosen(self, numbers: Sequence[int] | np.ndarray) -> "Scene":
        """Some of the primitives."""
        provoking, number = self.provokings[numbers], self.numbers[numbers]
        return replace(self, corners=self.corners[numbers], provoking=provoking, number=number)

    def state(self) -> int:
        """`RASTER_STATE`."""
        raster, viewport = self.raster, self.viewport
        words = {name: getattr(viewport, name).view(np.uint32).tolist() for name in ("scale", "offset")}
        flags = {name: int(getattr(raster, name)) for name in (
            "front_clockwise", "cull_front", "cull_back", "clip_zero", "no_near", "no_far", "program_point_size",
        )}  # fmt: skip
        return int(RASTER_STATE.const({
            "viewport": words,
            "raster": {"primitive": PrimitiveType.TRILIST, **flags},
            "radius": raster.point_radius,
            "points": int(self.is_points),
            "clip_distances": self.clip_distances,
            "cull_distances": self.cull_distances,
            "domain": vars(self.domain),
        }).as_value().value)  # fmt: skip

    def vectors(self, vertices: int) -> np.ndarray:
        """What the unit reads of each of that many entries."""
        found = np.full((vertices, POSITION_VECTORS, 4), 0x7FC12345, np.uint32)
        count = len(self.position)
        found[:count, 0] = self.position.view(np.uint32)
        found[:count, 1, 0] = self.sizes.view(np.uint32)
        found[:count, 2:] = self.all_distances.view(np.uint32).reshape(count, 2, 4)
        return found

    def primitives(self, vertices: int) -> list[int]:
        """Packed primitives."""
        layout, bits = primitive_layout(vertices), (vertices - 1).bit_length()
        corners = np.broadcast_to(self.corners, (len(self.corners), CORNERS)) << bits * np.arange(CORNERS)
        return [
            pack(layout, corners=sum(own), provoking=provoking, number=number)
            for own, provoking, number in zip(
                corners.tolist(), self.provokings.tolist(), self.numbers.tolist(), strict=True
            )
        ]

    def shapes(self) -> Shapes:
        """What the golden model draws."""
        size = self.sizes
        if not self.raster.program_point_size:
            size = np.full_like(size, self.raster.point_radius / 8)
        vertices = Vertices(position=self.position, distances=self.all_distances, size=size)
        with np.errstate(all="ignore"):
            if self.is_points:
                return setup.points(
                    vertices, self.corners[:, 0], self.numbers, raster=self.raster, viewport=self.viewport
                )
            return setup.triangles(
                vertices, self.corners, self.provokings, self.numbers, raster=self.raster, viewport=self.viewport,
                clip_distances=self.clip_distances, cull_distances=self.cull_distances,
            )  # fmt: skip

    def strips(self, shapes: Shapes, lanes: int) -> Strips | None:
        """The golden model's strips; None if there is none."""
        strips = list(strips_of(shapes, self.domain, lanes, _MOST_LANES))
        if not strips:
            return None
        joined = {name: np.concatenate([getattr(each, name) for each in strips], axis=-1) for name in vars(strips[0])}
        return Strips(**joined)
