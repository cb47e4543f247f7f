"""Input of the transpose, and its result by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

HEIGHT, WIDTH = 64, 96


def inputs() -> dict[str, Array]:
    """A matrix, float32 [64, 96], that looks different from every side: a letter F before a slope."""
    j, i = np.mgrid[0:HEIGHT, 0:WIDTH]
    slope = (i / WIDTH + j / HEIGHT) / 2
    stem = (20 <= i) & (i < 30) & (8 <= j) & (j < 56)
    upper_bar = (20 <= i) & (i < 70) & (8 <= j) & (j < 18)
    lower_bar = (20 <= i) & (i < 55) & (28 <= j) & (j < 38)
    return {"matrix.npy": np.where(stem | upper_bar | lower_bar, 1.0 - slope / 4, slope / 2).astype(np.float32)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """The transpose, float32 [96, 64, 1]: values are moved, so every bit is the same."""
    return {"transposed.npy": Expectation(arrays["matrix.npy"].T[:, :, None].copy())}
