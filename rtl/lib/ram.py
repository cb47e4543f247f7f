"""Memories: small ones that are read in the same cycle, and large ones in block RAM."""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike, ValueLike
from amaranth.lib.memory import Memory

UNCHECKED = "no_rw_check"
"""Yosys's attribute of a memory for which reading a row while it is written gives anything."""


class DistributedRam(Memory):
    """Rows that are 0 after power-up, with as many readers and writers as are connected.

    A read gives the row as it is before the cycle's writes. With one writer it fits an FPGA's distributed memory, with
    several it is made of registers. Two writers must not write the same row in the same cycle.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        super().__init__(shape=shape, depth=depth, init=[])

    def read(self, m: Module, row: Value) -> Any:
        """The contents of a row."""
        port = self.read_port(domain="comb")
        m.d.comb += port.addr.eq(row)
        return port.data

    def write(self, m: Module, row: Value, contents: ValueLike, enable: Value) -> None:
        """Set a row at the end of a cycle with `enable`."""
        port = self.write_port()
        m.d.comb += [port.addr.eq(row), port.data.eq(contents), port.en.eq(enable)]


class LazyTable(DistributedRam):
    """A table with one writer whose rows can be made to hold `first`, without a second write port.

    A row is not started in a cycle in which it is written. If a row's first contents are no constant, `read` gets them.
    """

    def __init__(self, shape: ShapeLike, depth: int, *, first: ValueLike = 0) -> None:
        super().__init__(shape, depth)
        self._first, self._fresh = first, Signal(depth, name="fresh")

    def read(self, m: Module, row: Value, *, first: ValueLike | None = None) -> Any:
        """The contents of a row, `first` if it has been started and not written."""
        contents = Signal(self.shape, name="contents")
        written, started = Value.cast(super().read(m, row)), self._first if first is None else first
        m.d.comb += contents.eq(Mux(self._fresh.bit_select(row, 1), started, written))
        return contents

    def write(self, m: Module, row: Value, contents: ValueLike, enable: Value) -> None:
        """Set a row at the end of a cycle with `enable`."""
        super().write(m, row, contents, enable)
        with m.If(enable):
            m.d.sync += self._fresh.bit_select(row, 1).eq(0)

    def start(self, m: Module, row: Value, enable: Value) -> None:
        """Make a row hold its first contents at the end of a cycle with `enable`."""
        with m.If(enable):
            m.d.sync += self._fresh.bit_select(row, 1).eq(1)


class BlockRam(Memory):
    """Rows in block RAM that are 0 after power-up, with synchronous ports.

    A row that is read and written in one cycle reads as anything where it is written. Block RAMs are like that;
    for other memories synthesis adds a register to each input and a multiplexer to each output. Simulation reads the
    old contents.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        attributes: Any = {UNCHECKED: 1}
        super().__init__(shape=shape, depth=depth, init=[], attrs=attributes)
