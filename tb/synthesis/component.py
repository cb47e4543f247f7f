"""A small component with a bit of everything that an FPGA has."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

TABLE = [77 * index % (1 << 18) for index in range(512)]


class ScaledEntry(wiring.Component):
    """table[index] * factor + offset."""

    index: In(9)
    factor: In(18)
    offset: In(36)
    result: Out(37)
    latency = 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.table = table = Memory(shape=18, depth=len(TABLE), init=TABLE)
        port = table.read_port()
        held_factor = Signal(18)
        held_offset = Signal(36)
        m.d.comb += port.addr.eq(self.index)
        m.d.sync += [
            held_factor.eq(self.factor),
            held_offset.eq(self.offset),
            self.result.eq(port.data * held_factor + held_offset),
        ]
        return m
