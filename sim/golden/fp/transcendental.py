"""RCP, RSQ, EX2, LN2, SIN and COS: reductions around the table, special values, one rounding.

Source: CTM Guide p. 28; docs/arithmetic.md has the datapath, docs/accuracy.md the errors.
"""

from collections.abc import Callable

import numpy as np

from ctm.rtl.isa.transcendental import ARGUMENT_BITS, C0_FRACTION, POWER, RECIPROCAL, ROOT_EVEN, ROOT_ODD, SINE
from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.interpolation import Integers, interpolate, interpolate_logarithm
from ctm.sim.golden.fp.rounding import flush_denormals, narrow
from ctm.sim.golden.fp.words import (
    DOUBLE_BIAS,
    DOUBLE_FRACTION_BITS,
    FRACTION_BITS,
    NAN,
    SIGN,
    Doubles,
    Floats,
    Mask,
    Words,
    words,
)

_BIAS = 127
_FRACTION = np.int32((1 << FRACTION_BITS) - 1)
_UNITS = 1 << ARGUMENT_BITS

Kernel = Callable[[Floats, Floats], None]


def _apply(kernel: Kernel, a: Floats, clean: bool, out: Floats | None) -> Floats:
    if not clean:
        a = flush_denormals(a)
    result = np.empty(a.shape, np.float32) if out is None else out
    with np.errstate(all="ignore"):
        for block in scratch.blocks(a.shape):
            kernel(a[block], result[block])
    return result


def rcp(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """1 / a. `clean` promises that no operand is a denormal; `out` must not overlap `a`, here and below."""
    return _apply(_rcp, a, clean, out)


def rsq(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """1 / sqrt(a); a NaN for a < 0, +infinity for both zeros."""
    return _apply(_rsq, a, clean, out)


def ex2(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """2 to the power of a."""
    return _apply(_ex2, a, clean, out)


def ln2(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """Logarithm of a to base 2; a NaN for a < 0, -infinity for both zeros."""
    return _apply(_ln2, a, clean, out)


def sin(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """Sine of a periods; a zero has the sign of a."""
    return _apply(_sin, a, clean, out)


def cos(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """Cosine of a periods; a zero is +0."""
    return _apply(_cos, a, clean, out)


def _split(a: Floats) -> tuple[Integers, Integers]:
    """Exponents without bias, and fractions as arguments of the table."""
    bits = words(a).view(np.int32)
    exponent = scratch.take("transcendental.exponent", a.shape, np.int32)
    argument = scratch.take("transcendental.argument", a.shape, np.int32)
    np.right_shift(bits, FRACTION_BITS, out=exponent)
    np.bitwise_and(exponent, np.int32(0xFF), out=exponent)
    np.subtract(exponent, np.int32(_BIAS), out=exponent)
    np.bitwise_and(bits, _FRACTION, out=argument)
    np.left_shift(argument, ARGUMENT_BITS - FRACTION_BITS, out=argument)
    return exponent, argument


def _scale(total: Doubles, exponent: Integers) -> None:
    """Multiply a sum of the table by 2^exponent, in its own array."""
    power = scratch.take("transcendental.power", total.shape, np.int64)
    np.copyto(power, exponent)
    np.add(power, DOUBLE_BIAS - C0_FRACTION, out=power)
    np.left_shift(power, DOUBLE_FRACTION_BITS, out=power)
    np.multiply(total, power.view(np.float64), out=total)


def _replace(out: Floats, where: Mask, value: Floats) -> None:
    """Put `value`, one element for each in `where`, into `out`; its NaNs may be any."""
    words(value)[np.isnan(value)] = NAN
    words(out)[where] = words(value)


def _positive_normal(a: Floats) -> Mask:
    # As integers, the words from 2^-126 to the largest number are one range.
    return words(a) - np.uint32(0x0080_0000) < 0x7F00_0000


def _rcp(a: Floats, out: Floats) -> None:
    exponent, argument = _split(a)
    np.subtract(np.int32(-1), exponent, out=exponent)
    total = interpolate(RECIPROCAL, argument)
    _scale(total, exponent)
    narrow(total, out)
    np.bitwise_or(words(out), words(a) & SIGN, out=words(out))
    normal = _positive_normal(np.abs(a))
    if not normal.all():
        _replace(out, ~normal, np.float32(1) / a[~normal])


def _rsq(a: Floats, out: Floats) -> None:
    exponent, argument = _split(a)
    # An odd exponent leaves a factor of 2 under the root, which has its own region.
    base = scratch.take("transcendental.base", a.shape, np.int32)
    np.bitwise_and(exponent, np.int32(1), out=base)
    np.multiply(base, np.int32(ROOT_ODD.base - ROOT_EVEN.base), out=base)
    np.add(base, np.int32(ROOT_EVEN.base), out=base)
    np.right_shift(exponent, 1, out=exponent)
    np.subtract(np.int32(-1), exponent, out=exponent)
    total = interpolate(ROOT_EVEN, argument, base)
    _scale(total, exponent)
    narrow(total, out)
    normal = _positive_normal(a)
    if not normal.all():
        special = a[~normal]
        _replace(out, ~normal, np.where(special == 0, np.float32(np.inf), np.float32(1) / np.sqrt(special)))


def _ex2(a: Floats, out: Floats) -> None:
    value = scratch.take("transcendental.value", a.shape, np.float64)
    whole = scratch.take("transcendental.whole", a.shape, np.float64)
    exponent = scratch.take("transcendental.exponent", a.shape, np.int32)
    argument = scratch.take("transcendental.argument", a.shape, np.int32)
    np.copyto(whole, a)
    np.abs(whole, out=value)
    # Beyond this every result is an infinity or a zero. A NaN becomes a number, and the result is replaced below.
    np.fmin(value, 2.0 * _BIAS, out=value)
    np.multiply(value, _UNITS, out=value)
    np.add(value, 0.5, out=value)
    np.floor(value, out=value)
    np.copysign(value, whole, out=value)
    np.multiply(value, 1 / _UNITS, out=whole)
    np.floor(whole, out=whole)
    np.copyto(exponent, whole, casting="unsafe")
    np.multiply(whole, _UNITS, out=whole)
    np.subtract(value, whole, out=value)
    np.copyto(argument, value, casting="unsafe")
    total = interpolate(POWER, argument)
    _scale(total, exponent)
    narrow(total, out)
    if np.isnan(np.maximum.reduce(a, axis=None)):
        np.copyto(words(out), NAN, where=np.isnan(a))


def _ln2(a: Floats, out: Floats) -> None:
    exponent, argument = _split(a)
    total = interpolate_logarithm(argument)
    whole = scratch.take("transcendental.whole", a.shape, np.float64)
    np.copyto(whole, exponent)
    np.multiply(total, 2.0**-C0_FRACTION, out=total)
    np.add(total, whole, out=total)
    narrow(total, out)
    normal = _positive_normal(a)
    if not normal.all():
        _replace(out, ~normal, np.log2(a[~normal]))


def _sin(a: Floats, out: Floats) -> None:
    sign = _wave(a, 0, out)
    np.bitwise_xor(sign, words(a) & SIGN, out=sign)
    _finish_wave(a, sign, out)


def _cos(a: Floats, out: Floats) -> None:
    _finish_wave(a, _wave(a, _UNITS, out), out)


def _wave(a: Floats, phase: int, out: Floats) -> Words:
    """Magnitude of the sine of |a| periods and a `phase` into `out`; returns the sign bits, clear for zeros.

    Arguments and the phase count in units of a quarter period / 2^ARGUMENT_BITS.
    """
    periods = scratch.take("transcendental.value", a.shape, np.float64)
    whole = scratch.take("transcendental.whole", a.shape, np.float64)
    angle = scratch.take("transcendental.exponent", a.shape, np.int32)
    argument = scratch.take("transcendental.argument", a.shape, np.int32)
    np.copyto(periods, a)
    np.abs(periods, out=periods)
    np.floor(periods, out=whole)
    np.subtract(periods, whole, out=periods)
    np.multiply(periods, 4.0 * _UNITS, out=periods)
    np.add(periods, phase + 0.5, out=periods)
    np.floor(periods, out=periods)
    np.copyto(angle, periods, casting="unsafe")
    # Distance from the nearest half period: rises through the first quarter, falls through the second.
    np.bitwise_and(angle, np.int32(2 * _UNITS - 1), out=argument)
    np.subtract(argument, np.int32(_UNITS), out=argument)
    np.abs(argument, out=argument)
    np.subtract(np.int32(_UNITS), argument, out=argument)
    total = interpolate(SINE, argument)
    np.copyto(total, 1 << C0_FRACTION, where=argument == _UNITS)
    np.multiply(total, 2.0**-C0_FRACTION, out=total)
    narrow(total, out)
    np.left_shift(angle, 31 - (ARGUMENT_BITS + 1), out=angle)
    np.copyto(angle, np.int32(0), where=argument == 0)
    sign = angle.view(np.uint32)
    return np.bitwise_and(sign, SIGN, out=sign)


def _finish_wave(a: Floats, sign: Words, out: Floats) -> None:
    np.bitwise_or(words(out), sign, out=words(out))
    finite = np.isfinite(a)
    if not finite.all():
        np.copyto(words(out), NAN, where=~finite)
