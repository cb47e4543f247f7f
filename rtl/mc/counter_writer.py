"""Writes performance counters to memory."""

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import counters_write_layout
from ctm.rtl.border.lines import LINE_BITS, LINE_OFFSET_BITS, line_write_layout
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BYTES

_BYTES = 2 * WORD_BYTES


class CounterWriter(wiring.Component):
    """Writes two counters to the first eight bytes of a line, or a `single` word anywhere in it. Combinational.

    Members
    -------
    counters : ``In(stream.Signature(counters_write_layout(single=single)))``
    line : ``Out(stream.Signature(line_write_layout(slice_bits)))``
    """

    def __init__(self, *, single: bool = False, slice_bits: int = LINE_BITS) -> None:
        self._single, self._slice_bytes = single, slice_bits // BYTE_BITS
        counters, line = counters_write_layout(single=single), line_write_layout(slice_bits)
        super().__init__({"counters": In(stream.Signature(counters)), "line": Out(stream.Signature(line))})

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
            inside = (self._slice_bytes - 1).bit_length()
            offset, slice_ = given.payload.address[:inside], given.payload.address[inside:LINE_OFFSET_BITS]
            with m.If(given.payload.single):
                m.d.comb += [
                    line.payload.slice.eq(slice_),
                    line.payload.bits.eq(given.payload.clocks << offset * BYTE_BITS),
                    line.payload.mask.eq(((1 << WORD_BYTES) - 1) << offset),
                ]
        return m
