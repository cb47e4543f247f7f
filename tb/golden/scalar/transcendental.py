"""RCP, RSQ, EX2, LN2, SIN and COS, one word at a time: the unit's datapath in integers; docs/arithmetic.md."""

from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import (
    ARGUMENT_BITS,
    C0_FRACTION,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    POWER,
    RECIPROCAL,
    ROOT_EVEN,
    ROOT_ODD,
    SINE,
    SQUARE_ALIGNMENT,
    SQUARE_SHIFT,
    SUM_SHIFT,
    Region,
)
from ctm.tb.golden.scalar.number import (
    BIAS,
    FRACTION_BITS,
    INFINITY,
    NAN,
    ONE,
    SIGN,
    ZERO,
    is_infinite,
    is_nan,
    is_zero,
    magnitude,
    round_nearest,
    sign,
    split,
)

_QUARTER_PERIOD = 1 << ARGUMENT_BITS
_RANGE = 0x4300_0000  # 128.0: 2^128 is an infinity, 2^-128 a zero


def interpolate(region: Region, x: int) -> int:
    """The sum for an argument of ARGUMENT_BITS bits; it has C0_FRACTION fraction bits."""
    c0, c1, c2 = COEFFICIENTS[region.base + (x >> region.width_bits) % region.entries]
    distance = x % (1 << region.width_bits) - (1 << (region.width_bits - 1))
    square = distance * distance >> SQUARE_SHIFT
    return ((c0 << SUM_SHIFT) + c1 * distance + (c2 * square << SQUARE_ALIGNMENT)) >> SUM_SHIFT


def fields(a: int) -> tuple[int, int]:
    """(exponent, x) of a normal word (1 + x / 2^ARGUMENT_BITS) * 2^exponent, its sign left aside."""
    exponent, fraction = divmod(magnitude(a), 1 << FRACTION_BITS)
    return exponent - BIAS, fraction << (ARGUMENT_BITS - FRACTION_BITS)


def rcp(a: int) -> int:
    """1 / a."""
    if is_nan(a):
        return NAN
    if is_zero(a) or is_infinite(a):
        return sign(a) | (INFINITY if is_zero(a) else ZERO)
    exponent, x = fields(a)
    return sign(a) | round_nearest(interpolate(RECIPROCAL, x), -(exponent + 1) - C0_FRACTION)


def rsq(a: int) -> int:
    """1 / sqrt(a)."""
    if is_zero(a):
        return INFINITY
    if is_nan(a) or sign(a):
        return NAN
    if is_infinite(a):
        return ZERO
    exponent, x = fields(a)
    region = ROOT_ODD if exponent & 1 else ROOT_EVEN
    return round_nearest(interpolate(region, x), -(exponent >> 1) - 1 - C0_FRACTION)


def fixed_point(a: int, fraction_bits: int) -> int:
    """|a| times 2^fraction_bits, rounded to the nearest integer, halves up; `a` is finite."""
    significand, exponent = split(magnitude(a))
    shift = exponent + fraction_bits
    return significand << shift if shift >= 0 else ((significand >> (-shift - 1)) + 1) >> 1


def ex2(a: int) -> int:
    """2 to the power of a."""
    if is_nan(a):
        return NAN
    if magnitude(a) >= _RANGE:
        return ZERO if sign(a) else INFINITY
    fixed = fixed_point(a, ARGUMENT_BITS)
    whole, x = divmod(-fixed if sign(a) else fixed, 1 << ARGUMENT_BITS)
    return round_nearest(interpolate(POWER, x), whole - C0_FRACTION)


def ln2(a: int) -> int:
    """Logarithm of a to base 2."""
    if is_zero(a):
        return SIGN | INFINITY
    if is_nan(a) or sign(a):
        return NAN
    if is_infinite(a):
        return INFINITY
    exponent, x = fields(a)
    region = LOGARITHM[x >> (ARGUMENT_BITS - LOGARITHM_SELECT_BITS)]
    return round_nearest((exponent << C0_FRACTION) + interpolate(region, x), -C0_FRACTION)


def sine_of_quarters(angle: int) -> tuple[int, int]:
    """(sign bit, magnitude word) of the sine of `angle` quarter periods / 2^ARGUMENT_BITS, angle >= 0."""
    quadrant, x = divmod(angle, _QUARTER_PERIOD)
    if quadrant & 1:
        x = _QUARTER_PERIOD - x
    negative = SIGN if quadrant & 2 else 0
    if x == _QUARTER_PERIOD:
        return negative, ONE
    return negative, round_nearest(interpolate(SINE, x), -C0_FRACTION)


def sin(a: int) -> int:
    """Sine of a periods."""
    if is_nan(a) or is_infinite(a):
        return NAN
    negative, result = sine_of_quarters(fixed_point(a, ARGUMENT_BITS + 2))
    return sign(a) if result == ZERO else sign(a) ^ negative | result


def cos(a: int) -> int:
    """Cosine of a periods: the sine a quarter period on."""
    if is_nan(a) or is_infinite(a):
        return NAN
    negative, result = sine_of_quarters(fixed_point(a, ARGUMENT_BITS + 2) + _QUARTER_PERIOD)
    return ZERO if result == ZERO else negative | result
