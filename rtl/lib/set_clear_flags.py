"""Bits that are set and cleared from several sources in a unit."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import Const, Module, Signal, Value


class SetClearFlags:
    """A vector of bits by each name; `finish` connects them when all sources are registered. Setting wins."""

    def __init__(self, width: int, names: Sequence[str]) -> None:
        self._bits = {name: Signal(width, name=name) for name in names}
        self._sets: dict[str, list[Value]] = {name: [] for name in names}
        self._clears: dict[str, list[Value]] = {name: [] for name in names}

    def __getitem__(self, name: str) -> Signal:
        """The bits as they are."""
        return self._bits[name]

    def set(self, name: str, bits: Value) -> None:
        """Set these at the end of the cycle."""
        self._sets[name].append(bits)

    def clear(self, name: str, bits: Value) -> None:
        """Clear these."""
        self._clears[name].append(bits)

    def finish(self, m: Module) -> None:
        """Connect the bits."""
        for name, bits in self._bits.items():
            clears = reduce(or_, self._clears[name], Const(0, len(bits)))
            sets = reduce(or_, self._sets[name], Const(0, len(bits)))
            m.d.sync += bits.eq((bits & ~clears) | sets)
