"""Small memories that are read in the same cycle."""

from typing import Any

from amaranth import Module, Value
from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory


class Table(Memory):
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

    def write(self, m: Module, row: Value, contents: Any, enable: Value) -> None:
        """Set a row at the end of a cycle with `enable`."""
        port = self.write_port()
        m.d.comb += [port.addr.eq(row), port.data.eq(contents), port.en.eq(enable)]
