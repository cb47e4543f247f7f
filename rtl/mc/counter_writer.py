"""Writes performance counters to memory."""

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import COUNTERS_WRITE
from ctm.rtl.border.lines import LINE_OFFSET_BITS, LINE_WRITE
from ctm.rtl.isa.limits import WORD_BITS

_BYTES = 2 * WORD_BITS // 8


class CounterWriter(wiring.Component):
    """Writes two counters to the first eight bytes of a line. Combinational.

    Members
    -------
    counters : ``In(stream.Signature(COUNTERS_WRITE))``
    line : ``Out(stream.Signature(LINE_WRITE))``
    """

    counters: In(stream.Signature(COUNTERS_WRITE))
    line: Out(stream.Signature(LINE_WRITE))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        given, line = self.counters, self.line
        m.d.comb += [
            line.valid.eq(given.valid),
            given.ready.eq(line.ready),
            line.payload.line.eq(given.payload.address[LINE_OFFSET_BITS:]),
            line.payload.bits.eq(Cat(given.payload.clocks, given.payload.active)),
            line.payload.mask.eq((1 << _BYTES) - 1),
        ]
        return m
