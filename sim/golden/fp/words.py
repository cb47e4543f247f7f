"""Bits of float32 words, and the array types that the arithmetic works on.

A float32 array is a carrier of 32-bit words: operations that only copy move its bits through a uint32 view.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

SIGN = np.uint32(0x8000_0000)
MAGNITUDE = np.uint32(0x7FFF_FFFF)
NAN = np.uint32(0x7FFF_FFFF)
"""The NaN that every arithmetic operation gives; CTM Guide p. 41."""

SMALLEST_NORMAL = np.float32(2.0**-126)
LARGEST = np.float32(2.0**128 - 2.0**104)
LARGEST_BELOW_ONE = 1.0 - 2.0**-24
FRACTION_BITS = 23
"""Stored fraction bits of a float32."""
DOUBLE_FRACTION_BITS = 52
DOUBLE_BIAS = 1023
"""The same of a float64, and its exponent bias."""


def words(x: Floats) -> Words:
    """The bits of `x`, shared with it."""
    return x.view(np.uint32)
