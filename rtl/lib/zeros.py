"""Counting zeros, as functions of values."""

from amaranth import Cat, Mux, Value


def leading_zeros(value: Value) -> Value:
    """Zeros above the highest one, as many bits as the largest count below ``len(value)`` needs.

    A value of 0 gives some count. The tree is as deep as the logarithm of the width.
    """
    return _count(value)[1]


def _count(value: Value) -> tuple[Value, Value]:
    """(whether there is a one, zeros above it). The upper part's width is a power of two."""
    if len(value) == 1:
        return value, value[:0]
    upper_bits = 1 << (len(value) - 1).bit_length() - 1
    lower_any, lower_count = _count(value[: len(value) - upper_bits])
    upper_any, upper_count = _count(value[len(value) - upper_bits :])
    count = Mux(upper_any, upper_count, lower_count) if len(upper_count) else upper_count
    return lower_any | upper_any, Cat(count, ~upper_any)
