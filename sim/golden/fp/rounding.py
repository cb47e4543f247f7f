"""From a raw result to the float32 that the machine gives: one rounding, no denormals, one NaN.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.words import NAN, SIGN, SMALLEST_NORMAL, Doubles, Floats, Mask, Words, words

# Largest magnitude that rounds, with 24 bits and an unbounded exponent, to less than the smallest normal number is just
# below this one, which is a tie and goes to the even 2^-126.
_SMALLEST_KEPT = 2.0**-126 - 2.0**-151


def narrow(total: Doubles, out: Floats) -> None:
    """Round `total` to nearest even into `out`; denormal results become signed zeros and NaNs the one NaN.

    A `total` exactly between two float32 must be exact: an operation that rounds it before would move it off the tie.
    """
    np.copyto(out, total, casting="same_kind")
    small = find_small(out)
    if small is not None:
        settle_small(out, small, total[small])
    canonicalise_nan(out)


def find_small(x: Floats) -> Mask | None:
    """Where `x` is 2^-126 or a denormal, of either sign; None if it is so nowhere.

    What was rounded to these words was rounded on the grid of the denormals, coarser than 24 bits.
    """
    doubled = _doubled_magnitude(x)
    return doubled < 0x0100_0000 if doubled.min() < 0x0100_0000 else None


def settle_small(x: Floats, small: Mask, exact: Doubles) -> None:
    """Round the `exact` values, one for each element in `small`, into `x`, which has their signs there."""
    magnitude = np.where(np.abs(exact) >= _SMALLEST_KEPT, SMALLEST_NORMAL, np.float32(0))
    x[small] = np.copysign(magnitude, x[small])


def canonicalise(x: Floats) -> None:
    """Change `x`: denormals become signed zeros and NaNs the one NaN."""
    for block in scratch.blocks(x.shape):
        section = x[block]
        doubled = _doubled_magnitude(section)
        if doubled.min() < 0x00FF_FFFF:
            np.bitwise_and(words(section), SIGN, out=words(section), where=doubled < 0x00FF_FFFF)
        canonicalise_nan(section)


def canonicalise_nan(x: Floats) -> None:
    """Change `x`, which has elements: NaNs become the one NaN."""
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


def without_denormals(x: Floats) -> Mask:
    """For each row of `x` whether no element is a denormal."""
    magnitude = np.abs(x)
    denormal: Mask = np.any((magnitude > 0) & (magnitude < SMALLEST_NORMAL), axis=-1)
    return ~denormal


def flush_denormals(x: Floats) -> Floats:
    """`x` with signed zeros for its denormals: `x` itself if it has none, else a copy."""
    if not has_denormal(x):
        return x
    result = x.copy()
    denormal = np.abs(x) < SMALLEST_NORMAL
    np.bitwise_and(words(result), SIGN, out=words(result), where=denormal)
    return result
