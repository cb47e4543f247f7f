"""Assembles lines from slices."""

from amaranth import Cat, Module, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_BITS, TaggedLineClient, is_last_slice


class LineAssembly(wiring.Component):
    """Gives a client whole lines, each in the cycle of its last slice. Slices of two lines are not interleaved.

    Members
    -------
    client : ``In(TaggedLineClient(tag))``
    lines : ``Out(TaggedLineClient(tag, slice_bits))``
    """

    def __init__(self, tag: ShapeLike, slice_bits: int) -> None:
        self._slice_bits = slice_bits
        super().__init__({"client": In(TaggedLineClient(tag)), "lines": Out(TaggedLineClient(tag, slice_bits))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        came, whole = self.lines.response, self.client.response
        connect(m, flipped(self.client.request), flipped(self.lines.request))
        earlier = Signal(LINE_BITS - self._slice_bits, reset_less=True)
        line = Cat(earlier, came.payload.bits)
        with m.If(came.valid):
            m.d.sync += earlier.eq(line[self._slice_bits :])
        m.d.comb += [
            whole.valid.eq(came.valid & is_last_slice(came.payload)),
            whole.payload.bits.eq(line),
            whole.payload.error.eq(came.payload.error),
            whole.payload.tag.eq(came.payload.tag),
        ]
        return m
