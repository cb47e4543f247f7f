"""The Mandelbrot set by numpy. It has no inputs."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

WIDTH = HEIGHT = 256
STEP, LEFT, BOTTOM = 5e-05, -0.7535, 0.0965
LIMIT = 256
ESCAPED = 4.0


def inputs() -> dict[str, Array]:
    """None: a pixel's input is its position."""
    return {}


def expected(_: dict[str, Array]) -> dict[str, Expectation]:
    """Steps of every pixel, float32 [256, 256, 1], equal in every bit; see `steps`."""
    return {"steps.npy": Expectation(steps(WIDTH, HEIGHT, STEP, LEFT, BOTTOM, LIMIT))}


def steps(width: int, height: int, step: float, left: float, bottom: float, limit: int) -> Array:
    """Steps that stay within |z| < 2, at most `limit` - 1, float32 [height, width, 1].

    In float32 as the machine computes it: the iteration is chaotic, so that other roundings would give other counts.
    """
    step, left, bottom = (float(np.float32(value)) for value in (step, left, bottom))
    j, i = np.mgrid[0:height, 0:width].astype(np.float32)
    real, imaginary = multiply_add(i, step, left).ravel(), multiply_add(j, step, bottom).ravel()
    count = np.full(real.size, limit - 1, np.float32)
    inside = np.arange(real.size)
    x, y = np.zeros_like(real), np.zeros_like(real)
    for done in range(limit):
        magnitude = multiply_add(x, x, multiply_add(y, y, -ESCAPED))
        remains = magnitude < 0
        count[inside[~remains]] = done
        x, y, real, imaginary, inside = (array[remains] for array in (x, y, real, imaginary, inside))
        x, y = (
            multiply_add(x, x, multiply_add(-y, y, real)),
            2 * multiply_add(x, y, imaginary / 2),
        )
    return count.reshape(height, width, 1)


def multiply_add(a: Array, b: Array | float, c: Array | float) -> Array:
    """Fused a * b + c of float32: the product is exact in float64, so only the sum is rounded."""
    return (a.astype(np.float64) * b + c).astype(np.float32)
