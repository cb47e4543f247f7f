"""Numbers, and the sums over blocks of 8 x 2 pixels by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

HEIGHT, WIDTH = 16, 64
LANES = 16
"""Pixels of a wavefront: four quads side by side."""


def inputs() -> dict[str, Array]:
    """Numbers, float32 [16, 64, 4]."""
    return {"numbers.npy": np.random.default_rng(7).standard_normal((HEIGHT, WIDTH, 4)).astype(np.float32)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """The sum of each pixel's wavefront, float32 [16, 64, 4], in the order in which the program adds."""
    numbers = arrays["numbers.npy"]
    height, width, channels = numbers.shape
    # To [row of quads, wavefront, lane]: a lane is quad, row in it, column in it.
    quads = numbers.reshape(height // 2, 2, width // 8, 4, 2, channels).transpose(0, 2, 3, 1, 4, 5)
    sums = quads.reshape(height // 2, width // 8, LANES, channels)
    bit = 1
    while bit < LANES:
        sums = sums + sums[:, :, np.arange(LANES) ^ bit]
        bit *= 2
    rows = sums.reshape(height // 2, width // 8, 4, 2, 2, channels).transpose(0, 3, 1, 2, 4, 5)
    return {"sums.npy": Expectation(np.ascontiguousarray(rows.reshape(height, width, channels)))}
