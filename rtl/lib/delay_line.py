"""Delays of many cycles in block RAM, without registers."""

from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib.memory import Memory

from ctm.rtl.lib.ram import UNCHECKED

_IN_BLOCKS = {"ram_style": "block"}
"""Yosys's attribute of a memory that is to be block RAM, however few rows it has."""


class DelayLine:
    """Values as they were a number of cycles ago that may be another one in each cycle.

    A reader has a memory of its own, in which each cycle's value is written to the next row; all have one position.
    """

    def __init__(self, m: Module, longest: int) -> None:
        self._position = Signal(range(1 << (longest - 1).bit_length()), name="position")
        m.d.sync += self._position.eq(self._position + 1)

    def read(self, m: Module, value: Value, cycles: Value | int, *, least: int = 2, name: str) -> Value:
        """In the next cycle `value` as it was `cycles` cycles before that one: from `least` to `longest`.

        With `least` 1 a row is read while it is written, which takes a multiplexer in most block RAMs.
        """
        attributes: Any = _IN_BLOCKS if least == 1 else _IN_BLOCKS | {UNCHECKED: 1}
        depth = 1 << len(self._position)
        memory: Any = Memory(shape=len(value), depth=depth, init=[], attrs=attributes)
        m.submodules[name] = memory
        write = memory.write_port()
        read = memory.read_port(transparent_for=(write,) if least == 1 else ())
        m.d.comb += [
            write.addr.eq(self._position),
            write.data.eq(value),
            write.en.eq(1),
            read.addr.eq(self._position - cycles + 1),
        ]
        return Value.cast(read.data)
