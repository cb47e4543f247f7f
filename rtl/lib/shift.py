"""Shifters: one multiplexer level for each bit of the amount."""

from amaranth import Cat, Const, Module, Mux, Signal, Value


def shift_right_sticky(m: Module, value: Value, amount: Value) -> tuple[Value, Value]:
    """(`value` >> `amount`, whether a one was shifted out)."""
    sticky = Signal(len(amount), name="sticky")
    for level in reversed(range(len(amount))):
        step = 1 << level
        shifted = Signal(len(value), name="shifted")
        m.d.comb += [
            sticky[level].eq(amount[level] & value[:step].any()),
            shifted.eq(Mux(amount[level], value[step:], value)),
        ]
        value = shifted
    return value, sticky.any()


def shift_left(m: Module, value: Value, amount: Value, width: int) -> Value:
    """The low `width` bits of `value` << `amount`.

    The widest step comes first: of what is shifted to the upper end, and cut there, the next ones then have fewer bits.
    """
    for level in reversed(range(len(amount))):
        shifted = Signal(width, name="shifted")
        m.d.comb += shifted.eq(Mux(amount[level], Cat(Const(0, 1 << level), value), value))
        value = shifted
    return value


def rotate_left(m: Module, value: Value, amount: Value) -> Value:
    """`value` rotated left by `amount`."""
    for level in range(len(amount)):
        rotated = Signal(len(value), name="rotated")
        m.d.comb += rotated.eq(Mux(amount[level], value.rotate_left(1 << level), value))
        value = rotated
    return value
