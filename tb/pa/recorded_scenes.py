"""Recorded draws in front of the rasterizer: vertices as the golden model shades them."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from ctm.sim.golden.draw import setup
from ctm.sim.golden.draw.drawer import Drawer
from ctm.sim.golden.draw.setup import Shapes, Vertices
from ctm.tb.draws.recorded import document, make_job, run
from ctm.tb.pa.scene import Scene

_PRIMITIVES = 80
"""Of a scene: their vertices have entries in a store of 256."""


def recorded_scenes(name: str) -> Iterator[Scene]:
    """The triangles or points of a recorded draw, with its state."""
    found: list[Scene] = []
    domains: list[Any] = []
    draw, triangles, points = Drawer.draw, setup.triangles, setup.points

    def drawing(self: Drawer, stages: Any, state: Any, start: Any, domain: Any) -> None:
        domains.append(domain)
        draw(self, stages, state, start, domain)

    def seen_triangles(vertices: Vertices, corners: Any, provoking: Any, number: Any, **state: Any) -> Shapes:
        found.extend(_scenes(vertices, corners, provoking, number, domains[-1], state))
        # Pixels would take long, and nothing is drawn of no triangle.
        return triangles(vertices, corners[:0], provoking[:0], number[:0], **state)

    def seen_points(vertices: Vertices, corners: Any, number: Any, **state: Any) -> Shapes:
        found.extend(_scenes(vertices, corners[:, None], corners, number, domains[-1], state))
        return points(vertices, corners[:0], number[:0], **state)

    compiler = next(each for each in ("sfn", "sb", "nosb") if each not in document(name)["miscompiled"])
    with (
        tempfile.TemporaryDirectory() as folder, patch.object(Drawer, "draw", drawing),
        patch.object(setup, "triangles", seen_triangles), patch.object(setup, "points", seen_points),
    ):  # fmt: skip
        run(make_job(name, compiler, Path(folder)), "golden", 16)
    yield from found


def _scenes(
    vertices: Vertices, corners: Any, provoking: Any, number: Any, domain: Any, state: dict[str, Any]
) -> Iterator[Scene]:
    for first in range(0, len(corners), _PRIMITIVES):
        section = slice(first, first + _PRIMITIVES)
        used, own = np.unique(np.concatenate([corners[section].ravel(), provoking[section]]), return_inverse=True)
        count = corners[section].size
        yield Scene(
            position=vertices.position[used], distances=vertices.distances[used], size=vertices.size[used],
            corners=own[:count].reshape(corners[section].shape), provoking=own[count:],
            number=np.asarray(number)[section] & 0xFFFFFFFF, domain=domain, **state,
        )  # fmt: skip
