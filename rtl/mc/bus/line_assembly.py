"""Assembles lines from slices."""

from amaranth import Cat, Module, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_BITS, TaggedLineClient, is_last_slice
from ctm.rtl.lib.pipeline import delay, delay_valid


class LineAssembly(wiring.Component):
    """Gives a client whole lines, each in the cycle after its last slice. Slices of two lines are not interleaved.

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
        line = Signal(LINE_BITS, reset_less=True)
        _, ends = delay_valid(m, came.valid & is_last_slice(came.payload), 1)
        with m.If(came.valid):
            m.d.sync += line.eq(Cat(line, came.payload.bits)[self._slice_bits :])
        m.d.comb += [
            whole.valid.eq(ends),
            whole.payload.bits.eq(line),
            whole.payload.error.eq(delay(m, came.payload.error, name="error")),
            whole.payload.tag.eq(delay(m, came.payload.tag, name="tag")),
        ]
        return m
