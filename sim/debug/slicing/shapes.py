"""What vertices left that decides over a pixel: whether their shape covers it, its edge values there, its record.

That is their positions, sizes of points, and clip and cull distances. Each of these words is changed alone, the
shape is set up again, and where something of that is another one, the word matters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.debug.draws import Drawing
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Floats, Shaded
from ctm.sim.golden.r700.image import pipeline_in
from ctm.sim.golden.r700.instruction import POSITION_TARGET

_STEPS = tuple(sign * 2.0**-power for power in (1, 3, 5, 8) for sign in (1, -1))
"""By which fractions of itself, or of w, a coordinate is moved: a larger step leaves the view."""
_FAR = -(2.0**20)
"""Instead of any word: out of view, and more than any shape has."""
_OTHERS = 0.0, -1.0, 0.25, 1.0, 16.0, _FAR
"""Instead of sizes and distances."""

VertexWord = tuple[int, int, int]
"""A vertex, and the target and the channel in which it left a word."""


@dataclass(frozen=True)
class Needs:
    """What is needed of a shape: rows and channels of its record, edges with pixels, and pixels that it covers."""

    records: list[Any]
    edges: list[tuple[int, tuple[int, int]]]
    covered: list[tuple[int, int]]


def words_that_matter(drawing: Drawing, shape: int, needs: Needs) -> dict[VertexWord, int]:
    """The words of a shape's vertices without any one of which these would not be determined."""
    shapes, shaded = drawing.shapes, drawing.shaded
    assert shapes is not None and shaded is not None
    corners = list(dict.fromkeys(shapes.corners[shape].tolist()))
    usual = np.concatenate([shaded.position[None], shaded.beside])[:, corners]
    targets = _targets(drawing)
    tried, copies = [], [usual]
    for number, corner, channel in np.ndindex(*usual.shape):
        target = targets[number]
        if target is None:
            continue
        position = usual[number, corner]
        for word in _moved(position, channel) if number == 0 else _others(position, channel):
            tried.append((corners[corner], target, channel))
            copies.append(usual.copy())
            copies[-1][number, corner, channel] = word
    triangle = int((shapes.primitive[:shape] == shapes.primitive[shape]).sum())
    words = _set_up(drawing, copies, triangle, needs)
    matter = {word for word, own in zip(tried, words[1:], strict=True) if own is not None and own != words[0]}
    left = np.concatenate([shaded.position[None], shaded.beside]).view(np.uint32)
    return {
        (vertex, target, channel): int(left[targets.index(target), vertex, channel])
        for vertex, target, channel in sorted(matter)
    }


def _targets(drawing: Drawing) -> list[int | None]:
    """The targets of positions, of what is beside them, and of two vectors of distances; None for what is not left."""
    program = drawing.programs["DC" if "DC" in drawing.programs else "VS"].launch.program
    pipeline, found = pipeline_in(program.image), [POSITION_TARGET]
    present: list[int | None] = [POSITION_TARGET]
    for is_there in (pipeline.misc, *pipeline.distance_vectors):
        present.append(found[-1] + 1 if is_there else None)
        found += [found[-1] + 1] * bool(is_there)
    return present


def _moved(position: Floats, channel: int) -> Iterator[np.float32]:
    """Other words of a coordinate."""
    for step in _STEPS:
        for size in (position[channel], position[3]):
            yield position[channel] + np.float32(step) * size
    near = position[channel : channel + 1].copy()
    near.view(np.uint32)[0] ^= 1
    yield near[0]
    yield np.float32(_FAR)


def _others(vector: Floats, channel: int) -> Iterator[np.float32]:
    """Others instead of a size or a distance."""
    for factor in (-1.0, 0.5, 2.0):
        yield vector[channel] * np.float32(factor)
    yield from map(np.float32, _OTHERS)


def _set_up(drawing: Drawing, copies: list[Floats], triangle: int, needs: Needs) -> list[bytes | None]:
    """What is needed of the shape's triangle of each copy; None where only that triangle is missing."""
    shaded = drawing.shaded
    assert shaded is not None and drawing.set_up is not None
    count, size = len(copies), copies[0].shape[1]
    every = np.concatenate(copies, axis=1)
    again = Shaded(
        position=every[0], beside=every[1:], parameters=np.zeros((count * size, 0, CHANNELS), np.float32), streams=()
    )
    shapes = drawing.set_up(again, np.arange(count * size).reshape(count, size))
    found: list[bytes | None] = []
    for copy in range(count):
        own = np.flatnonzero(shapes.primitive == copy)
        covered = [any(_covers(shapes, int(each), pixel) for each in own) for pixel in needs.covered]
        is_there = own.size > triangle
        words = _words(shapes, int(own[triangle]), needs) if is_there else b""
        found.append(bytes(covered) + words if is_there or not all(covered) else None)
    return found


def _covers(shapes: Shapes, shape: int, pixel: tuple[int, int]) -> bool:
    """Whether a shape covers a pixel."""
    left, right, low, high = shapes.bounds[shape].tolist()
    if not (left <= pixel[0] <= right and low <= pixel[1] <= high):
        return False
    values = shapes.edges[shape] @ np.array([*pixel, 1])
    return bool(((values > 0) | (values == 0) & shapes.ties[shape]).all())


def _words(shapes: Shapes, shape: int, needs: Needs) -> bytes:
    """Words of a shape's record, and its edge values at pixels."""
    record = b"".join(shapes.record[(shape, *row)].tobytes() for row in needs.records)
    values = (np.float32(shapes.edges[shape, edge] @ np.array([*pixel, 1])) for edge, pixel in needs.edges)
    return record + b"".join(value.tobytes() for value in values)
