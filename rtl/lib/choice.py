"""One of two words, or of some constants."""

from collections.abc import Mapping
from itertools import groupby

from amaranth import Cat, Module, Mux, Signal, Value


def chosen_word(
    m: Module, words: tuple[Value, Value], takes: tuple[Value, Value], constants: Mapping[int, Value], *, name: str
) -> Value:
    """The word of which `takes` says so, else all bits of the constants whose conditions hold.

    Both selects of a bit at once say 1, so that each bit takes one LUT4, and two more all bits that the same constants
    set. Neighbouring ones of these are chosen together: bit by bit a simulator takes a tenth longer for all of a core.
    """

    def setters(place: int) -> tuple[int, ...]:
        return tuple(value for value in constants if value >> place & 1)

    selects: dict[tuple[int, ...], tuple[Signal, Signal]] = {}
    parts = []
    for values, places in groupby(range(len(words[0])), setters):
        if values not in selects:
            selects[values] = pair = Signal(name=f"{name}_first"), Signal(name=f"{name}_second")
            sets = Cat(constants[value] for value in values).any()
            m.d.comb += [select.eq(take | sets) for select, take in zip(pair, takes, strict=True)]
        part = list(places)
        first, second = (word[part[0] : part[-1] + 1] for word in words)
        takes_first, takes_second = selects[values]
        other = takes_second.replicate(len(part))
        parts.append(Mux(takes_first, other | first, other & second))
    return Cat(parts)
