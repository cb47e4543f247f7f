"""Multiply-add, multiplication, presubtract, dot products and fractions on vectors of float32, an element a lane.

Each result is rounded once, to nearest even. With `zero_times_anything` a product with a zero factor is zero.

Source: CTM Guide pp. 26-30, 42; docs/arithmetic.md.
"""

from collections.abc import Sequence

from ctm.sim.engines.fast.vector.lanes import SIGN, Lanes, Value

_DOUBLE_BIAS, _DOUBLE_FRACTION_BITS = 1023, 52
_ALIGNED_BITS = 24
"""Bits of a dot product's terms that are kept below the leading bit of the largest one."""
_SMALLEST_LARGEST = 2.0**-252
"""Below every product of two normal numbers; keeps the scale of a sum of zeros finite."""


def multiply_add(lanes: Lanes, a: Value, b: Value, c: Value, *, zero_times_anything: bool) -> Value:
    """A * b + c, fused."""
    result = lanes.apply("fma", a, b, c) if lanes.fused else _fused(lanes, a, b, c)
    if not zero_times_anything:
        return result
    zero, signed = _annulled(lanes, a, b)
    return lanes.choose(zero, lanes.builder.fadd(signed, c), result)


def _fused(lanes: Lanes, a: Value, b: Value, c: Value) -> Value:
    """A * b + c in float64, where the product is exact and the sum is rounded to odd, so that narrowing is exact."""
    builder = lanes.builder
    product, addend = builder.fmul(lanes.widen(a), lanes.widen(b)), lanes.widen(c)
    total = builder.fadd(product, addend)
    # Knuth's TwoSum.
    partial = builder.fsub(total, product)
    error = builder.fadd(builder.fsub(addend, partial), builder.fsub(product, builder.fsub(total, partial)))
    bits, error_bits = builder.bitcast(total, lanes.longs), builder.bitcast(error, lanes.longs)
    is_inexact = builder.fcmp_ordered("!=", error, lanes.double(0))
    is_even = builder.icmp_unsigned("==", builder.and_(bits, lanes.long(1)), lanes.long(0))
    # Magnitudes grow with the bits: outward is +1, inward -1.
    direction = builder.or_(builder.ashr(builder.xor(bits, error_bits), lanes.long(63)), lanes.long(1))
    odd = builder.add(bits, direction)
    chosen = lanes.choose(builder.and_(is_inexact, is_even), odd, bits)
    return lanes.narrow(builder.bitcast(chosen, lanes.doubles))


def multiply(lanes: Lanes, a: Value, b: Value, *, zero_times_anything: bool) -> Value:
    """A * b, rounded by itself; a zero has the sign of the product."""
    product = lanes.builder.fmul(a, b)
    if not zero_times_anything:
        return product
    zero, signed = _annulled(lanes, a, b)
    return lanes.choose(zero, signed, product)


def _annulled(lanes: Lanes, a: Value, b: Value) -> tuple[Value, Value]:
    """The mask of lanes whose product has a zero factor, and that zero with the sign of the product."""
    builder, none = lanes.builder, lanes.single(0)
    zero = builder.or_(lanes.compare("==", a, none), lanes.compare("==", b, none))
    signs = builder.and_(builder.xor(lanes.words(a), lanes.words(b)), lanes.integer(SIGN))
    return zero, lanes.as_floats(signs)


def presubtract(lanes: Lanes, operation: int, source0: Value, source1: Value) -> Value:
    """1 - 2 source0, source1 - source0, source1 + source0 or 1 - source0 for 0 to 3."""
    builder = lanes.builder
    if operation == 0:
        # Doubling is exact, and where it overflows so would the difference.
        return builder.fadd(builder.fmul(source0, lanes.single(-2)), lanes.single(1))
    if operation == 1:
        return builder.fsub(source1, source0)
    if operation == 2:
        return builder.fadd(source1, source0)
    return builder.fsub(lanes.single(1), source0)


def dot(
    lanes: Lanes, a: Sequence[Value], b: Sequence[Value], addends: Sequence[Value] = (), *, zero_times_anything: bool
) -> Value:
    """Sum of a[k] * b[k] and of `addends`, each truncated at the alignment of the largest, rounded once."""
    builder = lanes.builder
    terms = []
    for x, y in zip(a, b, strict=True):
        term = builder.fmul(lanes.widen(x), lanes.widen(y))
        if zero_times_anything:
            zero, signed = _annulled(lanes, x, y)
            term = lanes.choose(zero, lanes.widen(signed), term)
        terms.append(term)
    terms += [lanes.widen(addend) for addend in addends]
    # If a term is an infinity or a NaN, so is this sum, and it is the result.
    naive = _sum(lanes, terms)
    largest = lanes.double(_SMALLEST_LARGEST)
    for term in terms:
        magnitude = lanes.apply("fabs", term)
        largest = lanes.choose(builder.fcmp_ordered(">", magnitude, largest), magnitude, largest)
    # Powers of two are made from exponent fields: 2^(24 - E) here, 2^(E - 24) below.
    exponent = builder.and_(builder.bitcast(largest, lanes.longs), lanes.long(0x7FF << _DOUBLE_FRACTION_BITS))
    scale = builder.sub(lanes.long((2 * _DOUBLE_BIAS + _ALIGNED_BITS) << _DOUBLE_FRACTION_BITS), exponent)
    unscale = builder.sub(lanes.long((2 * _DOUBLE_BIAS) << _DOUBLE_FRACTION_BITS), scale)
    factor, back = builder.bitcast(scale, lanes.doubles), builder.bitcast(unscale, lanes.doubles)
    total = _sum(lanes, [lanes.apply("trunc", builder.fmul(term, factor)) for term in terms])
    # Products of finite numbers stay far below float64's largest.
    is_finite = builder.fcmp_ordered("<", lanes.apply("fabs", naive), lanes.double(float("inf")))
    return lanes.narrow(lanes.choose(is_finite, builder.fmul(total, back), naive))


def _sum(lanes: Lanes, terms: Sequence[Value]) -> Value:
    total = terms[0]
    for term in terms[1:]:
        total = lanes.builder.fadd(total, term)
    return total


def fraction(lanes: Lanes, a: Value) -> Value:
    """FRC: a - floor(a), rounded towards zero, in [0, 1); a NaN for infinities and NaNs."""
    builder = lanes.builder
    # In float64 the difference is exact, or below 1 by less than can be kept.
    wide = lanes.widen(a)
    difference = builder.fsub(wide, lanes.apply("floor", wide))
    below_one = lanes.double(1 - 2.0**-24)
    is_large = builder.fcmp_ordered(">", difference, below_one)
    limited = lanes.choose(is_large, below_one, difference)
    kept = builder.and_(builder.bitcast(limited, lanes.longs), lanes.long(-1 << 29))
    return lanes.narrow(builder.bitcast(kept, lanes.doubles))
