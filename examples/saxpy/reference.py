"""Inputs of saxpy, and its result by numpy."""

import numpy as np

from ctm.examples.expectation import Array, Expectation

A = 2.5


def inputs(height: int = 32, width: int = 64) -> dict[str, Array]:
    """Two vectors x and y, float32 [height, width, 4]."""
    random = np.random.default_rng(1)
    return {name: random.standard_normal((height, width, 4)).astype(np.float32) for name in ("x.npy", "y.npy")}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """Fused a * x + y, float32 [height, width, 4]: the product is exact in float64, so only the sum is rounded."""
    x, y = (arrays[name].astype(np.float64) for name in ("x.npy", "y.npy"))
    return {"sum.npy": Expectation((A * x + y).astype(np.float32))}
