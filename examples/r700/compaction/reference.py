"""Numbers of which some are kept, and those by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

HEIGHT, WIDTH = 4, 64
"""Pixels; each has 16 numbers."""
THRESHOLD = 0.25


def inputs() -> dict[str, Array]:
    """Numbers from -1 to 1, float32 [4, 256, 4], and what the sums are before the first pass."""
    random = np.random.default_rng(6)
    numbers = random.uniform(-1, 1, (HEIGHT, 4 * WIDTH, 4)).astype(np.float32)
    return {"numbers.npy": numbers, "zeros.npy": np.zeros((HEIGHT, WIDTH), np.float32)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """Those above the threshold in their order, float32 [16, 256, 1], zeros after them."""
    numbers = arrays["numbers.npy"].ravel()
    kept = numbers[numbers > THRESHOLD]
    result = np.zeros(numbers.size, np.float32)
    result[: kept.size] = kept
    return {"kept.npy": Expectation(result.reshape(16, -1, 1))}
