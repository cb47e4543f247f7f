"""Keys of the bitonic sort, its passes, and its result by numpy."""

from collections.abc import Iterator

import numpy as np

from ctm.examples.expectation import Array, Expectation

SIDE = 64
KEYS = SIDE * SIDE


def inputs() -> dict[str, Array]:
    """Keys in no order, float32 [64, 64]."""
    return {"keys.npy": np.random.default_rng(3).permutation(KEYS).astype(np.float32).reshape(SIDE, SIDE) / KEYS}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """The keys in order, row after row, float32 [64, 64, 1]: keys are moved, so every bit is the same."""
    return {"sorted.npy": Expectation(np.sort(arrays["keys.npy"].ravel()).reshape(SIDE, SIDE, 1))}


def passes() -> Iterator[dict[int, tuple[float, float, float, float]]]:
    """The float constants of each pass in order, as the job file has them."""
    block = 2
    while block <= KEYS:
        distance = block // 2
        while distance:
            column, row = _split(distance)
            yield {0: _fraction(distance), 1: _fraction(block), 2: (column, row, 0.0, 0.0)}
            distance //= 2
        block *= 2


def _split(distance: int) -> tuple[float, float]:
    """A power of two as a distance of columns or of rows."""
    return (float(distance), 0.0) if distance < SIDE else (0.0, float(distance // SIDE))


def _fraction(distance: int) -> tuple[float, float, float, float]:
    column, row = (0.5 / step if step else 0.0 for step in _split(distance))
    return (column, row, (column + row) / 2, 0.0)
