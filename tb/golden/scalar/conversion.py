"""Conversions between float32 words and integers, one at a time."""

import math

from ctm.tb.golden.scalar.number import SIGNIFICAND_BITS, is_infinite, is_nan, round_nearest, sign, split, value
from ctm.tb.golden.scalar.selection import clamp

# More quotient bits than any tie of n / 65535 needs; the remainder is kept as a sticky bit.
_QUOTIENT_BITS = 64


def from_unorm(n: int, largest: int) -> int:
    """The word nearest to n / largest; `largest` is 255 or 65535."""
    quotient, remainder = divmod(n << _QUOTIENT_BITS, largest)
    return round_nearest(quotient << 1 | (remainder != 0), -_QUOTIENT_BITS - 1)


def to_unorm(x: int, largest: int) -> int:
    """The integer nearest to x clamped to [0, 1] times `largest`, ties to even."""
    return round(value(clamp(x)) * largest)


def coordinate_index(s: int, limit: int) -> int:
    """floor(s) clamped to [0, limit - 1]; NaN is 0."""
    if is_nan(s) or sign(s):
        return 0
    if is_infinite(s):
        return limit - 1
    significand, exponent = split(s)
    # An exponent this large is beyond every limit.
    if exponent >= SIGNIFICAND_BITS:
        return limit - 1
    floor = significand << exponent if exponent >= 0 else significand >> -exponent
    return min(floor, limit - 1)


def to_integer(x: int, least: int, most: int) -> int:
    """The number truncated to an integer, saturated to `least` and `most`; NaN is 0."""
    if is_nan(x):
        return 0
    if is_infinite(x):
        return least if sign(x) else most
    return min(max(math.trunc(value(x)), least), most)


def from_integer(n: int) -> int:
    """The word nearest to `n`, ties to even."""
    return round_nearest(n, 0)
