"""Shifters, as functions of values: one multiplexer level for each bit of the amount."""

from amaranth import Cat, Const, Mux, Value


def shift_right_sticky(value: Value, amount: Value) -> tuple[Value, Value]:
    """(`value` >> `amount`, whether a one was shifted out)."""
    sticky = Value.cast(Const(0, 1))
    for level in reversed(range(len(amount))):
        step = 1 << level
        sticky = sticky | (amount[level] & value[:step].any())
        value = Mux(amount[level], value[step:], value)
    return value, sticky


def shift_left(value: Value, amount: Value, width: int) -> Value:
    """`value` << `amount`, of which at most `width` bits are kept."""
    for level in range(len(amount)):
        value = Mux(amount[level], Cat(Const(0, 1 << level), value), value)[:width]
    return value
