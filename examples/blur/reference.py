"""Input of the blur, and its result by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

SIZE = 256
PASSES = 8
WEIGHTS = np.array([1, 4, 6, 4, 1]) / 16
FIRST, LAST = 2, SIZE - 4
"""Pixels whose 6 x 6 neighbourhood lies in the picture, in both directions; the others stay as they are."""


def inputs() -> dict[str, Array]:
    """A zone plate, uint16 [256, 256]: rings that get finer outwards, between two blank corners."""
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE - 0.5
    rings = 0.5 + 0.5 * np.cos(np.pi * SIZE * (x * x + y * y))
    blank = (x + 0.5 < 0.25) & (y + 0.5 < 0.25) | (x + 0.5 >= 0.75) & (y + 0.5 >= 0.75)
    return {"picture.npy": np.rint(np.where(blank, x > 0, rings) * 0xFFFF).astype(np.uint16)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """The picture after all passes, uint16 [256, 256, 1].

    A pass rounds to whole units. Where the machine's float32 sum falls on the other side of a half, it is one unit
    off; later passes average such errors, so that each pass adds one unit at most.
    """
    return {"blurred.npy": Expectation(blurred(arrays["picture.npy"], PASSES)[:, :, None], float(PASSES))}


def blurred(picture: Array, passes: int) -> Array:
    """A picture after some passes, uint16 [256, 256]."""
    result = picture.astype(np.float64)
    inside = slice(FIRST, LAST + 1)
    for _ in range(passes):
        result[inside, inside] = np.rint(_convolve(_convolve(result, 0), 1)[inside, inside])
    return result.astype(np.uint16)


def _convolve(picture: Array, axis: int) -> Array:
    result: Array = np.sum([weight * np.roll(picture, 2 - index, axis) for index, weight in enumerate(WEIGHTS)], axis=0)
    return result
