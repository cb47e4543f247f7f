"""One of two words, or of some constants."""

from collections.abc import Mapping

from amaranth import Cat, Module, Mux, Signal, Value


def chosen_word(
    m: Module, words: tuple[Value, Value], takes: tuple[Value, Value], constants: Mapping[int, Value], *, name: str
) -> Value:
    """The word of which `takes` says so, else all bits of the constants whose conditions hold.

    Both selects of a bit at once say 1, so that each bit takes one LUT4, and two more all bits that the same constants
    set.
    """
    selects: dict[int, tuple[Signal, Signal]] = {}
    bits = []
    for place, (first, second) in enumerate(zip(*words, strict=True)):
        setters = sum(1 << number for number, value in enumerate(constants) if value >> place & 1)
        if setters not in selects:
            selects[setters] = pair = Signal(name=f"{name}_first"), Signal(name=f"{name}_second")
            sets = Cat(condition for number, condition in enumerate(constants.values()) if setters >> number & 1).any()
            m.d.comb += [select.eq(take | sets) for select, take in zip(pair, takes, strict=True)]
        takes_first, takes_second = selects[setters]
        bits.append(Mux(takes_first, takes_second | first, takes_second & second))
    return Cat(bits)
