"""Inputs of the matrix multiplication, and its result by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

SIZE = 128
BLOCK = 4
ROUNDING = 2.0**-24
"""Relative error of one rounding of a float32."""


def inputs(size: int = SIZE) -> dict[str, Array]:
    """A transposed and B of `size` x `size` numbers, four to an element: float32 [size, size/4, 4]."""
    random = np.random.default_rng(2)
    shape = (size, size // BLOCK, BLOCK)
    return {name: random.uniform(-1, 1, shape).astype(np.float32) for name in ("a_transposed.npy", "b.npy")}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """C in four outputs: row t of every block, float64 [M/4, N/4, 4].

    Each number is a chain of K fused multiply-adds, each rounded once, or the sum of two chains that share them: it is
    off by at most K roundings of the sum of the products' magnitudes (Higham, Accuracy and Stability of Numerical
    Algorithms, chapter 3).
    """
    a, b = (arrays[name].reshape(len(arrays[name]), -1).astype(np.float64) for name in ("a_transposed.npy", "b.npy"))
    c = a.T @ b
    tolerance = 1.01 * len(a) * ROUNDING * (np.abs(a.T) @ np.abs(b))
    return {f"c{row}.npy": Expectation(_rows(c, row), _rows(tolerance, row)) for row in range(BLOCK)}


def _rows(matrix: Array, row: int) -> Array:
    return matrix[row::BLOCK].reshape(len(matrix) // BLOCK, -1, BLOCK)
