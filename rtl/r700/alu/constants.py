"""The float constants of a core, as ALU groups and vertex fetches read them.

Source: R700-Family Instruction Set Architecture, section 4.6.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS, ConstantBank
from ctm.rtl.dpp.constants.loader import CONSTANT_WRITE
from ctm.rtl.isa.limits import FLOAT_CONSTANTS
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.r700.border.constants import ROW_BITS


class FloatConstants(wiring.Component):
    """Keeps float constants as memory holds them. Latency of a read is a cycle.

    Members
    -------
    write : ``In(CONSTANT_WRITE)``
    row : ``In(8)``
    words : ``Out(WORDS)``
    error : ``Out(FLOAT_CONSTANTS // 4)``
        Lines that had an error response.
    """

    write: In(CONSTANT_WRITE)
    row: In(ROW_BITS)
    words: Out(WORDS)
    error: Out(FLOAT_CONSTANTS // 4)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        memory = BlockRam(WORDS, FLOAT_CONSTANTS)
        m.submodules.memory = memory
        port, read, write = memory.write_port(), memory.read_port(), self.write
        writes = Signal()
        m.d.comb += [
            writes.eq(write.valid & (write.bank == ConstantBank.FLOAT)),
            port.addr.eq(Cat(write.beat, write.line)),
            port.data.eq(write.words),
            port.en.eq(writes),
            read.addr.eq(self.row),
            self.words.eq(read.data),
        ]
        with m.If(writes):
            m.d.sync += self.error.bit_select(write.line, 1).eq(write.error | self._again(write))
        return m

    def _again(self, write: data.View) -> Value:
        """Whether an earlier beat of the line had an error response."""
        return Value.cast(self.error.bit_select(write.line, 1) & (write.beat != 0))
