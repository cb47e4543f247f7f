"""Selects one of two operands, or of some constants."""

from collections.abc import Mapping
from itertools import groupby

from amaranth import Cat, Module, Mux, Signal, Value


def chosen_operand(
    m: Module, operands: tuple[Value, Value], takes: tuple[Value, Value], constants: Mapping[int, Value], *, name: str
) -> Value:
    """The operand that `takes` selects, else all bits of the constants whose conditions hold.

    Both selects of a bit at once give 1. So each bit takes one LUT4, and each set of bits that the same constants set
    takes two more. Neighbouring bits of a set share one multiplexer: bit by bit a core simulates a tenth slower.
    """

    def setters(position: int) -> tuple[int, ...]:
        return tuple(value for value in constants if value >> position & 1)

    selects: dict[tuple[int, ...], tuple[Signal, Signal]] = {}
    fields = []
    for values, positions in groupby(range(len(operands[0])), setters):
        if values not in selects:
            selects[values] = pair = Signal(name=f"{name}_first"), Signal(name=f"{name}_second")
            sets = Cat(constants[value] for value in values).any()
            m.d.comb += [select.eq(take | sets) for select, take in zip(pair, takes, strict=True)]
        field = list(positions)
        first, second = (operand[field[0] : field[-1] + 1] for operand in operands)
        takes_first, takes_second = selects[values]
        other = takes_second.replicate(len(field))
        fields.append(Mux(takes_first, other | first, other & second))
    return Cat(fields)
