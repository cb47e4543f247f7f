"""From a raw result to the float32 that the machine gives: one rounding, no denormals, one NaN.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.words import NAN, SIGN, SMALLEST_NORMAL, Doubles, Floats, Words, words

# Largest magnitude that rounds, with 24 bits and an unbounded exponent, to less than the smallest normal number is just
# below this one, which is a tie and goes to the even 2^-126.
_SMALLEST_KEPT = 2.0**-126 - 2.0**-151


def narrow(total: Doubles, out: Floats) -> None:
    """Round `total` to nearest even into `out`; denormal results become signed zeros and NaNs the one NaN.

    A `total` that lies exactly between two float32 must be exact: whoever rounded it before has moved it off the tie.
    """
    np.copyto(out, total, casting="same_kind")
    doubled = _doubled_magnitude(out)
    # A float64 just short of 2^-126 may have been rounded up on the coarser grid of the denormals.
    if doubled.min() < 0x0100_0000:
        small = doubled < 0x0100_0000
        kept = np.abs(total) >= _SMALLEST_KEPT
        magnitude = np.where(kept, SMALLEST_NORMAL, np.float32(0))
        np.copyto(out, np.copysign(magnitude, out), where=small)
    _canonicalise_nan(out)


def canonicalise(x: Floats) -> None:
    """In place: denormals become signed zeros and NaNs the one NaN."""
    for block in scratch.blocks(x.shape):
        part = x[block]
        doubled = _doubled_magnitude(part)
        if doubled.min() < 0x00FF_FFFF:
            np.bitwise_and(words(part), SIGN, out=words(part), where=doubled < 0x00FF_FFFF)
        _canonicalise_nan(part)


def _canonicalise_nan(x: Floats) -> None:
    if np.isnan(np.maximum.reduce(x, axis=None)):
        np.copyto(words(x), NAN, where=np.isnan(x))


def _doubled_magnitude(x: Floats) -> Words:
    """Twice the magnitude's bits, less one: denormals lie below 0xFFFFFF, 2^-126 is 0xFFFFFF, zeros wrap to the top."""
    doubled = scratch.take("rounding.doubled", x.shape, np.uint32)
    np.left_shift(words(x), 1, out=doubled)
    np.subtract(doubled, np.uint32(1), out=doubled)
    return doubled


def has_denormal(x: Floats) -> bool:
    """Whether any element is a denormal."""
    return any(_doubled_magnitude(x[block]).min() < 0x00FF_FFFF for block in scratch.blocks(x.shape))


def flush_denormals(x: Floats) -> Floats:
    """`x` with signed zeros for its denormals: `x` itself if it has none, else a copy."""
    if not has_denormal(x):
        return x
    result = x.copy()
    denormal = np.abs(x) < SMALLEST_NORMAL
    np.bitwise_and(words(result), SIGN, out=words(result), where=denormal)
    return result
