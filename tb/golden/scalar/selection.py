"""Selections, tests and modifiers, one word at a time."""

from ctm.tb.golden.scalar.number import (
    HALF,
    NAN,
    ONE,
    SIGN,
    ZERO,
    flush,
    is_infinite,
    is_nan,
    is_zero,
    magnitude,
    order,
    round_nearest,
    sign,
    split,
)

_OUTPUT_SHIFTS = (0, 1, 2, 3, -1, -2, -3)


def minimum(a: int, b: int) -> int:
    """The smaller operand's bits; b if either is a NaN or both are zero."""
    return a if not (is_nan(a) or is_nan(b)) and order(a) < order(b) else b


def maximum(a: int, b: int) -> int:
    """The larger operand's bits; b if either is a NaN or both are zero."""
    if is_nan(a) or is_nan(b) or (is_zero(a) and is_zero(b)):
        return b
    return a if order(a) >= order(b) else b


def select_above_half(a: int, b: int, c: int) -> int:
    """CND: a if c > 0.5, else b."""
    return a if not is_nan(c) and order(c) > order(HALF) else b


def select_not_negative(a: int, b: int, c: int) -> int:
    """CMP: a if c >= 0, else b; both zeros are >= 0."""
    return a if not is_nan(c) and order(c) >= 0 else b


def test_zero(x: int, test: int) -> bool:
    """`x` == 0, < 0, >= 0, != 0 for `test` 0 to 3; for a NaN only != holds."""
    if is_nan(x):
        return test == 3
    return (order(x) == 0, order(x) < 0, order(x) >= 0, order(x) != 0)[test]


def input_modifier(x: int, modifier: int) -> int:
    """`x`, -x, |x|, -|x| for 0 to 3: bit 1 clears the sign, then bit 0 inverts it."""
    return (magnitude(x) if modifier & 2 else x) ^ (SIGN if modifier & 1 else 0)


def output_modifier(x: int, modifier: int) -> int:
    """`x` times 1, 2, 4, 8, 1/2, 1/4, 1/8 for 0 to 6."""
    if is_nan(x):
        return NAN
    if is_infinite(x) or is_zero(x):
        return flush(x)
    significand, exponent = split(x)
    return round_nearest(significand, exponent + _OUTPUT_SHIFTS[modifier])


def clamp(x: int) -> int:
    """`x` clamped to [0, 1]; NaN and -0 give +0. A positive denormal, which no operation gives, is copied."""
    if is_nan(x) or sign(x):
        return ZERO
    return min(x, ONE)
