"""Rounding to integral values, one word at a time; the sign of a zero is kept."""

import math
from collections.abc import Callable
from fractions import Fraction

from ctm.tb.golden.scalar.number import NAN, is_infinite, is_nan, round_nearest, sign, value


def trunc(a: int) -> int:
    """`a` rounded towards zero."""
    return _round(math.trunc, a)


def ceil(a: int) -> int:
    """The smallest integral value that is not below `a`."""
    return _round(math.ceil, a)


def rint(a: int) -> int:
    """The integral value nearest to `a`, ties to even."""
    return _round(round, a)


def floor(a: int) -> int:
    """The largest integral value that is not above `a`."""
    return _round(math.floor, a)


def _round(rounding: Callable[[Fraction], int], a: int) -> int:
    if is_nan(a):
        return NAN
    if is_infinite(a):
        return a
    return sign(a) | round_nearest(rounding(value(a)), 0)
