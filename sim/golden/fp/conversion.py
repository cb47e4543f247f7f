"""Between float32 and integers: those of operations, and what memory and coordinates hold.

Source: CTM Guide pp. 6-7, 33; docs/arithmetic.md.
"""

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.fp.modifiers import clamp, clamp_to
from ctm.sim.golden.fp.words import Doubles, Floats


def from_unorm16(n: npt.NDArray[np.uint16]) -> Floats:
    """The float32 nearest to n / 65535, which is never a tie."""
    return np.divide(n, np.float32(65535), dtype=np.float32)


def from_unorm8(n: npt.NDArray[np.uint8]) -> Floats:
    """The float32 nearest to n / 255, which is never a tie."""
    return np.divide(n, np.float32(255), dtype=np.float32)


def to_unorm16(x: Floats) -> npt.NDArray[np.uint16]:
    """`x` clamped to [0, 1], NaN being 0, times 65535, rounded to nearest even."""
    return _to_unorm(x, 65535).astype(np.uint16)


def to_unorm8(x: Floats) -> npt.NDArray[np.uint8]:
    """`x` clamped to [0, 1], NaN being 0, times 255, rounded to nearest even."""
    return _to_unorm(x, 255).astype(np.uint8)


def _to_unorm(x: Floats, largest: int) -> npt.NDArray[np.int32]:
    # The product has at most 40 bits and is exact.
    value = clamp(x).astype(np.float64)
    np.multiply(value, largest, out=value)
    return np.rint(value, out=value).astype(np.int32)


def coordinate_index(s: Floats, limit: int) -> npt.NDArray[np.int32]:
    """floor(s) clamped to [0, limit - 1], NaN being 0; `limit` is at least 1 and at most 2^24."""
    # Truncation is the floor of what the clamp leaves, and so may come after it.
    return clamp_to(s, limit - 1).astype(np.int32)


def to_int32(x: Floats) -> npt.NDArray[np.int32]:
    """`x` truncated to an integer, saturated; NaN is 0."""
    value = _widen(x)
    undefined = np.isnan(value)
    if undefined.any():
        value[undefined] = 0
    np.maximum(value, -(2.0**31), out=value)
    np.minimum(value, 2.0**31 - 1, out=value)
    return value.astype(np.int32)


def to_uint32(x: Floats) -> npt.NDArray[np.uint32]:
    """`x` truncated to an integer, saturated, so a negative number is 0; NaN is 0."""
    value = _widen(x)
    np.fmax(value, 0.0, out=value)
    np.minimum(value, 2.0**32 - 1, out=value)
    return value.astype(np.uint32)


def _widen(x: Floats) -> Doubles:
    # A signalling NaN is a number like others here, and no reason for a warning.
    with np.errstate(all="ignore"):
        return x.astype(np.float64)


def from_integer(n: npt.NDArray[np.int32] | npt.NDArray[np.uint32]) -> Floats:
    """The float32 nearest to `n`, ties to even."""
    return n.astype(np.float32)
