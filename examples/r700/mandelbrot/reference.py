"""The Mandelbrot set by numpy. It has no inputs."""

import numpy as np

from ctm.examples.expectation import Array, Expectation
from ctm.examples.mandelbrot.reference import BOTTOM, ESCAPED, HEIGHT, LEFT, LIMIT, STEP, WIDTH


def inputs() -> dict[str, Array]:
    """None: a pixel's input is its position."""
    return {}


def expected(_: dict[str, Array]) -> dict[str, Expectation]:
    """Steps of every pixel, float32 [256, 256, 1], equal in every bit; see `steps`."""
    return {"steps.npy": Expectation(steps(WIDTH, HEIGHT, STEP, LEFT, BOTTOM, LIMIT))}


def steps(width: int, height: int, step: float, left: float, bottom: float, limit: int) -> Array:
    """Steps that stay within |z| < 2, at most `limit` - 1, float32 [height, width, 1].

    Every product and sum is rounded by itself, as float32 arrays do it: the iteration is chaotic, so that other
    roundings would give other counts.
    """
    j, i = np.mgrid[0:height, 0:width].astype(np.float32)
    real, imaginary = (
        (coordinate * np.float32(step) + np.float32(first)).ravel() for coordinate, first in ((i, left), (j, bottom))
    )
    count = np.full(real.size, limit - 1, np.float32)
    inside = np.arange(real.size)
    x, y = np.zeros_like(real), np.zeros_like(real)
    for done in range(limit):
        remains = x * x + y * y < np.float32(ESCAPED)
        count[inside[~remains]] = done
        x, y, real, imaginary, inside = (array[remains] for array in (x, y, real, imaginary, inside))
        x, y = x * x + (real - y * y), (x + x) * y + imaginary
    return count.reshape(height, width, 1)
