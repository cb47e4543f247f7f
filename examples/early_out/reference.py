"""The early-out example by numpy: what the first pass finds, and what the second one computes."""

import numpy as np

from ctm.examples.expectation import Array, Expectation
from ctm.examples.mandelbrot.reference import LIMIT, steps

SIDE = 128
STEP, LEFT, BOTTOM = 3 / 128, -2.25, -1.5


def inputs() -> dict[str, Array]:
    """What the first pass leaves, uint16 [128, 128], so that the second one can run by itself."""
    return {name: expectation.values[:, :, 0] for name, expectation in classified().items()}


def classified() -> dict[str, Expectation]:
    """65535 (the value 1) where the steps have to be computed, uint16 [128, 128, 1].

    No point of this grid is so near to the border of the two regions that a rounding decides.
    """
    j, i = np.mgrid[0:SIDE, 0:SIDE]
    x, y = LEFT + STEP * i, BOTTOM + STEP * j
    q = (x - 0.25) ** 2 + y**2
    inside = (q * (q + x - 0.25) <= y**2 / 4) | ((x + 1) ** 2 + y**2 <= 1 / 16)
    return {"needed.npy": Expectation(np.where(inside, 0, 0xFFFF).astype(np.uint16)[:, :, None])}


def expected(_: dict[str, Array]) -> dict[str, Expectation]:
    """Steps of every point, float32 [128, 128, 1], as if all had been computed; the mask is left as it was."""
    return {"steps.npy": Expectation(steps(SIDE, SIDE, STEP, LEFT, BOTTOM, LIMIT)), **classified()}
