"""Inputs of saxpy, and its result by numpy."""

from ctm.examples.expectation import Array, Expectation
from ctm.examples.saxpy import reference

inputs = reference.inputs
"""Two vectors x and y, float32 [height, width, 4]."""


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """A * x + y, float32 [height, width, 4]: the product is rounded, then the sum, as float32 arrays do it."""
    x, y = (arrays[name] for name in ("x.npy", "y.npy"))
    return {"sum.npy": Expectation(reference.A * x + y)}
