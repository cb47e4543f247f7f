"""Scenes by hand: what random ones meet seldom."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ctm.rtl.border.draws import DISTANCES
from ctm.sim.golden.draw.state import Raster, Viewport
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.pa.scene import Scene, plain_viewport

F = np.float32


def mesh(squares: int) -> Scene:
    """Triangles of a bent mesh: each edge is that of two, of opposite directions."""
    generator = np.random.default_rng(squares)
    side = squares + 1
    ticks = np.linspace(-1, 1, side)
    x, y = np.meshgrid(ticks, ticks)
    position = np.stack([x, y, np.zeros_like(x), np.ones_like(x)], axis=-1).astype(F)
    position[1:-1, 1:-1, :2] += generator.uniform(-0.8 / side, 0.8 / side, (side - 2, side - 2, 2)).astype(F)
    position = position.reshape(-1, 4) * generator.uniform(0.5, 2, (side * side, 1)).astype(F)
    first = (np.arange(squares)[:, None] * side + np.arange(squares)).ravel()
    lower = np.stack([first, first + 1, first + side], axis=1)
    upper = np.stack([first + 1, first + side + 1, first + side], axis=1)
    return Scene(position=position, corners=np.concatenate([lower, upper]))


def small(count: int = 21) -> Scene:
    """Triangles inside of the view, of few pixels."""
    generator = np.random.default_rng(0)
    middle = generator.uniform(-0.8, 0.8, (count, 1, 2))
    position = np.zeros((3 * count, 4), F)
    position[:, :2] = (middle + generator.uniform(-0.05, 0.05, (count, 3, 2))).reshape(-1, 2)
    position[:, 3] = 1
    return Scene(position=position, corners=np.tile(np.arange(3 * count).reshape(-1, 3), (4, 1)))


def ends() -> Iterator[Scene]:
    """The largest triangles: coordinates at the ends of what is snapped, areas and edge values of 49 bits."""
    position = np.array([(-1, -1, 0, 1), (1, -1, 0, 1), (-1, 1, 0, 1), (1, 1, 0, 1)], F)
    corners = np.array([(0, 1, 2), (0, 2, 1), (3, 1, 2), (3, 2, 1)])
    for scale, offset in ((2.0**14, 2.0**14), (-(2.0**14), 2.0**15), (8000.0, -40000.0)):
        for shift in (0.0, -offset, -2 * offset):
            viewport = Viewport(scale=np.full(3, scale, F), offset=np.full(3, offset + shift, F))
            for domain in (Domain(i0=0, j0=0, i1=40, j1=6), Domain(i0=4070, j0=4090, i1=4095, j1=4095)):
                yield Scene(position=position, corners=corners, viewport=viewport, domain=domain)


def faces() -> Iterator[Scene]:
    """Both windings under every culling mode."""
    scene = mesh(3)
    turned = scene.corners.copy()
    turned[::2] = turned[::2, ::-1]
    for flags in range(8):
        raster = Raster(cull_front=bool(flags & 1), cull_back=bool(flags & 2), front_clockwise=bool(flags & 4))
        yield replace(scene, corners=turned, raster=raster)


def infinite() -> Iterator[tuple[Scene, bool]]:
    """Infinite window coordinates, and whether something is drawn."""
    depths = np.array([0, 1, -1, 1e30, -1e30, 3e38, 2.0**-126], F)
    for corners in (small().corners[:21], np.arange(63)[:, None]):
        scene = replace(small(), corners=corners, raster=Raster(no_near=True, no_far=True, point_radius=9))
        scene.position[:, 2] = np.resize(depths, 63)
        for axis in range(3):
            for name in ("scale", "offset"):
                viewport = plain_viewport()
                getattr(viewport, name)[axis] = np.inf
                yield replace(scene, viewport=viewport), axis == 2


def culled() -> Iterator[Scene]:
    """Each cull distance alone: negative at all corners, at all but one, and in two planes together."""
    scene = replace(small(), corners=small().corners[:21])
    generator = np.random.default_rng(1)
    for plane in range(DISTANCES):
        distances = np.ones((63, DISTANCES), F)
        distances[:, plane] = generator.choice([-1, -1, -1, -0.5, 0, -0.0, 1e-40, -1e-40, np.nan], 63)
        distances[:, (plane + 1) % DISTANCES] = generator.choice([-1, -1, 1], 63)
        for mask in (1 << plane, 0xFF ^ 1 << plane, 0xFF):
            yield replace(scene, distances=distances, cull_distances=mask)


def clipped() -> Iterator[Scene]:
    """Each clip distance alone, and all together."""
    scene = replace(small(), corners=small().corners[:21])
    generator = np.random.default_rng(2)
    for plane in range(DISTANCES):
        distances = np.ones((63, DISTANCES), F)
        distances[:, plane] = generator.choice([-1, -0.3, 0, 0.25, 1, 1e-40, -1e-40, np.inf, np.nan], 63)
        distances[:, (plane + 3) % DISTANCES] = generator.uniform(-1, 1, 63)
        for mask in (1 << plane, 0xFF):
            yield replace(scene, distances=distances, clip_distances=mask)


def sides() -> Iterator[Scene]:
    """Points of all sizes at and beside the centres of pixels, by state and by program."""
    x, y = np.meshgrid(np.arange(8), np.arange(7))
    position = np.zeros((56, 4), F)
    position[:, 0], position[:, 1] = (x.ravel() * 64 + x.ravel() - 130) / 256 / 32, (y.ravel() * 37 - 60) / 256 / 24
    position[:, 3] = 1
    points = Scene(position=position, corners=np.arange(56)[:, None])
    for radius in (0, 1, 7, 8, 9, 16, 40, 300, 65535):
        yield replace(points, raster=Raster(point_radius=radius))
    sizes = np.array([0.5, 1, 1.5, 1 / 128, 1 / 256, 1.5 / 128, 2.5 / 128, 16384, 16385, 1e9, -1, np.nan, np.inf, 4], F)
    yield replace(points, size=np.resize(sizes, 56), raster=Raster(program_point_size=True))


def directed() -> Iterator[tuple[str, Scene]]:
    """All of them with names."""
    yield "mesh", mesh(6)
    yield "small", small()
    for name, scenes in (("ends", ends()), ("faces", faces()), ("culled", culled()), ("clipped", clipped())):
        yield from ((name, scene) for scene in scenes)
    yield from (("infinite", scene) for scene, _ in infinite())
    yield from (("sides", scene) for scene in sides())
