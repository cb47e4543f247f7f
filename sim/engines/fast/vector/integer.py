"""Operations on 32-bit integers that are more than one instruction of LLVM. Operands and results are words."""

from ctm.sim.engines.fast.vector.lanes import Lanes, Value

_LAST_BIT = 31


def shift_left(lanes: Lanes, a: Value, count: Value) -> Value:
    """A shifted by an unsigned count; 0 for one above 31."""
    return _where_below_32(lanes, count, lanes.builder.shl(a, _limited(lanes, count)))


def shift_right(lanes: Lanes, a: Value, count: Value) -> Value:
    """The same to the right, filled with zeros."""
    return _where_below_32(lanes, count, lanes.builder.lshr(a, _limited(lanes, count)))


def shift_right_signed(lanes: Lanes, a: Value, count: Value) -> Value:
    """The same, filled with the sign; nothing but the sign for counts above 31."""
    return lanes.builder.ashr(a, _limited(lanes, count))


def high_product(lanes: Lanes, a: Value, b: Value, *, signed: bool) -> Value:
    """The upper half of the exact product."""
    builder = lanes.builder
    extend = builder.sext if signed else builder.zext
    product = builder.mul(extend(a, lanes.longs), extend(b, lanes.longs))
    return builder.trunc(builder.lshr(product, lanes.long(32)), lanes.integers)


def reciprocal(lanes: Lanes, a: Value) -> Value:
    """2^32 / a of an unsigned number, truncated and saturated."""
    # A quotient that is not an integer lies further from the next one than float64 rounds.
    quotient = lanes.builder.fdiv(lanes.double(2.0**32), lanes.builder.uitofp(a, lanes.doubles))
    most = lanes.double(2.0**32 - 1)
    limited = lanes.choose(lanes.builder.fcmp_ordered("<", quotient, most), quotient, most)
    return lanes.builder.fptoui(limited, lanes.integers)


def reciprocal_signed(lanes: Lanes, a: Value) -> Value:
    """The same of a signed number, truncated towards zero."""
    builder = lanes.builder
    quotient = builder.fdiv(lanes.double(2.0**32), builder.sitofp(a, lanes.doubles))
    least, most = lanes.double(-(2.0**31)), lanes.double(2.0**31 - 1)
    quotient = lanes.choose(builder.fcmp_ordered(">", quotient, least), quotient, least)
    return builder.fptosi(lanes.choose(builder.fcmp_ordered("<", quotient, most), quotient, most), lanes.integers)


def _limited(lanes: Lanes, count: Value) -> Value:
    return lanes.apply("umin", count, lanes.integer(_LAST_BIT))


def _where_below_32(lanes: Lanes, count: Value, shifted: Value) -> Value:
    is_small = lanes.builder.icmp_unsigned("<=", count, lanes.integer(_LAST_BIT))
    return lanes.choose(is_small, shifted, lanes.none)
