"""The pictures of each example in the demonstration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ctm.examples.expectation import Array
from ctm.examples.mandelbrot.reference import LIMIT
from scripts.pictures import beside, cycle, heat, shades
from scripts.stages import Stage

_SKY, _WIDTH = 448, 5.5
"""Width and height of the picture of the bodies, in pixels and in their own unit."""


@dataclass(frozen=True)
class Exhibit:
    """One picture."""

    colours: Array
    caption: str


def mandelbrot(_: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """The set near the seahorse valley."""
    return Exhibit(
        _steps(stages[-1].outputs["steps.npy"], 0.35), "Steps until |z| reaches 2; black: 255 were not enough"
    )


def early_out(arrays: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """The conditional buffer and the result."""
    mask = np.where(arrays["needed.npy"][::-1, :, None] > 0, [225, 225, 225], [176, 48, 48]).astype(np.uint8)
    return Exhibit(
        beside(mask, _steps(stages[-1].outputs["steps.npy"], 0.2)),
        "The conditional buffer after the first pass (red: known to be inside) and the result of the second",
    )


def _steps(steps: Array, rate: float) -> Array:
    counts = steps[::-1, :, 0]
    return np.where(counts[:, :, None] == LIMIT - 1, np.uint8(0), cycle(rate * np.log2(1 + counts)))


def blur(arrays: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """Before and after."""
    pictures = (
        shades(picture / 0xFFFF) for picture in (arrays["picture.npy"], stages[-1].outputs["blurred.npy"][..., 0])
    )
    return Exhibit(
        beside(*pictures), "A zone plate before and after eight passes of 5 x 5 pixels: fine rings go, wide ones stay"
    )


def transpose(arrays: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """Before and after, on a common height."""
    before, after = arrays["matrix.npy"], stages[-1].outputs["transposed.npy"][:, :, 0]
    height = max(len(before), len(after))
    pictures = (
        np.pad(heat(picture), ((0, height - len(picture)), (0, 0), (0, 0)), constant_values=255)
        for picture in (before, after)
    )
    return Exhibit(beside(*pictures), "A matrix of 64 x 96 numbers and its transpose")


def bitonic(arrays: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """The keys before, between and after."""
    pictures = [arrays["keys.npy"], *(stage.outputs["sorted.npy"][:, :, 0] for stage in stages)]
    return Exhibit(
        beside(*map(heat, pictures)), "4096 keys before and after 21, 55, 66 and all 78 passes; dark keys are small"
    )


def blackscholes(_: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """Prices over strike and time."""
    prices = stages[-1].outputs["prices.npy"][::-1]
    return Exhibit(
        beside(*(heat(prices[:, :, kind] / 60) for kind in (0, 1))),
        "Prices of calls (left) and puts: strike 50 to 150 to the right, 0.1 to 5 years upwards",
    )


def nbody(arrays: Mapping[str, Array], stages: Sequence[Stage]) -> Exhibit:
    """Tracks of all bodies, brighter as time goes on."""
    sky = np.zeros((_SKY, _SKY, 3))
    tracks = [arrays["positions.npy"], *(stage.outputs["positions_after.npy"] for stage in stages)]
    colours = np.array([[1.0, 0.6, 0.25], [0.35, 0.7, 1.0]]).repeat(tracks[0][..., 0].size // 2, axis=0)
    for (earlier, later), age in zip(pairwise(tracks), np.linspace(0.15, 1, len(stages)), strict=True):
        for share in np.linspace(0, 1, 12, endpoint=False):
            _light(sky, (1 - share) * earlier + share * later, 0.1 * age * colours)
    _light(sky, tracks[-1], colours)
    return Exhibit(
        np.rint(np.minimum(sky, 1) * 255).astype(np.uint8), "Tracks of 256 bodies in two discs through 16 steps"
    )


def _light(sky: Array, positions: Array, colours: Array) -> None:
    """Add light where bodies are, to four pixels each."""
    bodies = positions.reshape(-1, 4)
    x = np.rint((bodies[:, 0] / _WIDTH + 0.5) * _SKY).astype(int)
    y = np.rint((0.5 - bodies[:, 1] / _WIDTH) * _SKY).astype(int)
    for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
        inside = (0 <= x + right) & (x + right < _SKY) & (0 <= y + down) & (y + down < _SKY)
        np.add.at(sky, (y[inside] + down, x[inside] + right), colours[inside])


EXHIBITS: Mapping[str, Callable[[Mapping[str, Array], Sequence[Stage]], Exhibit]] = {
    "mandelbrot": mandelbrot,
    "r700/mandelbrot": mandelbrot,
    "blur": blur,
    "nbody": nbody,
    "early_out": early_out,
    "bitonic": bitonic,
    "transpose": transpose,
    "blackscholes": blackscholes,
}
"""By example: its inputs by file and the stages of its run to a picture."""


def compiled_mandelbrot(colours: Array) -> Exhibit:
    """Steps, in the first channel."""
    return Exhibit(cycle(colours[::-1, :, 0] / 64), "Steps of the compiled Mandelbrot program on its grid of 16 x 16")


def compiled_sincos(colours: Array) -> Exhibit:
    """Three of the four results as red, green and blue."""
    return Exhibit(shades(colours[::-1, :, :3] / 2 + 0.5), "sin 5x, cos 4y and sin x cos y as red, green and blue")


COMPILED_EXHIBITS: Mapping[str, Callable[[Array], Exhibit]] = {
    "mandelbrot": compiled_mandelbrot,
    "sincos": compiled_sincos,
}
"""By compiled program: its output to a picture."""
