"""Writes performance counters to memory."""

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import counters_write_layout
from ctm.rtl.border.lines import LINE_OFFSET_BITS, LINE_WRITE
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BYTES

_BYTES = 2 * WORD_BYTES


class CounterWriter(wiring.Component):
    """Writes two counters to the first eight bytes of a line, or a `single` word anywhere in it. Combinational.

    Members
    -------
    counters : ``In(stream.Signature(counters_write_layout(single=single)))``
    line : ``Out(stream.Signature(LINE_WRITE))``
    """

    def __init__(self, *, single: bool = False) -> None:
        self._single = single
        counters = counters_write_layout(single=single)
        super().__init__({"counters": In(stream.Signature(counters)), "line": Out(stream.Signature(LINE_WRITE))})

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
        if self._single:
            offset = given.payload.address[:LINE_OFFSET_BITS]
            with m.If(given.payload.single):
                m.d.comb += [
                    line.payload.bits.eq(given.payload.clocks << offset * BYTE_BITS),
                    line.payload.mask.eq(((1 << WORD_BYTES) - 1) << offset),
                ]
        return m
