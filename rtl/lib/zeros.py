"""Counting zeros."""

from amaranth import Cat, Module, Mux, Signal, Value


def leading_zeros(m: Module, value: Value) -> Value:
    """Zeros above the highest one, as many bits as the largest count below ``len(value)`` needs.

    A value of 0 gives some count. The tree is as deep as the logarithm of the width.
    """
    return _count(m, value)[1]


def _count(m: Module, value: Value) -> tuple[Value, Value]:
    """(whether there is a one, zeros above it). The upper half's width is a power of two."""
    if len(value) == 1:
        return value, value[:0]
    upper_bits = 1 << (len(value) - 1).bit_length() - 1
    lower_any, lower_count = _count(m, value[: len(value) - upper_bits])
    upper_any, upper_count = _count(m, value[len(value) - upper_bits :])
    some, count = Signal(name="some"), Signal(len(upper_count) + 1, name="zeros")
    m.d.comb += [
        some.eq(lower_any | upper_any),
        count.eq(Cat(Mux(upper_any, upper_count, lower_count), ~upper_any)),
    ]
    return some, count
