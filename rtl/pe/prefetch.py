"""A next-line prefetcher for images."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LINE_OFFSET_BITS, LineClient, is_last_slice
from ctm.rtl.isa.limits import ADDRESS_BITS

_DEPTH = 3


class LinePrefetch(wiring.Component):
    """Reads lines in order, and prefetches the next three lines, because an image is read mostly in order.

    Lines are numbered from `base` on. A line that is not used is dropped, with or without an error.

    Members
    -------
    base : ``In(32)``
        A multiple of 64. Addresses wrap.
    line : ``In(range(lines + 1))``
        The line to be read; constant from `aim` until `found`.
    aim : ``In(1)``
        Drop earlier lines until `line` is in flight or the next to be requested; high until `aimed`.
    aimed : ``Out(1)``
    take : ``In(1)``
        Wait for the line; only after `aimed`, high until `found`.
    found : ``Out(1)``
        A slice of the line is valid, in this cycle only: each once, the lowest first.
    bits : ``Out(slice_bits)``
    slice : ``Out(range(slices))``
    last : ``Out(1)``
        With `found`: the line is complete.
    error : ``Out(1)``
        With `found`: the line has an error, and `bits` mean nothing.
    drop : ``In(1)``
        Drop all lines in flight; high until `drained`.
    drained : ``Out(1)``
        No line is in flight.
    lines : ``Out(LineClient(slice_bits))``
    """

    def __init__(self, lines: int, slice_bits: int = LINE_BITS) -> None:
        self._count = lines
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "line": In(range(lines + 1)),
                "aim": In(1),
                "aimed": Out(1),
                "take": In(1),
                "found": Out(1),
                "bits": Out(slice_bits),
                "slice": Out(range(LINE_BITS // slice_bits)),
                "last": Out(1),
                "error": Out(1),
                "drop": In(1),
                "drained": Out(1),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response = self.lines.request, self.lines.response
        # The next line to be requested, and the next one to arrive.
        requested, arriving, requesting = Signal(range(self._count + 1)), Signal(range(self._count + 1)), Signal()
        is_near = (arriving <= self.line) & (self.line <= requested)
        m.d.comb += [
            request.valid.eq(requesting),
            request.payload.line.eq((self.base >> LINE_OFFSET_BITS) + requested),
            request.payload.uncached.eq(1),
            response.ready.eq(self.drop | self.take | (self.aim & ~self.aimed)),
            self.drained.eq((requested == arriving) & ~requesting),
            self.aimed.eq(is_near | self.drained),
            self.found.eq(self.take & response.valid & (arriving == self.line)),
            self.bits.eq(response.payload.bits),
            self.slice.eq(response.payload.slice),
            self.last.eq(is_last_slice(response.payload)),
            self.error.eq(response.payload.error),
        ]
        with m.If(requesting & request.ready):
            m.d.sync += [requesting.eq(0), requested.eq(requested + 1)]
        with m.If(response.valid & response.ready & self.last):
            m.d.sync += arriving.eq(arriving + 1)
        with m.If(self.aim & ~is_near & self.drained):
            m.d.sync += [requested.eq(self.line), arriving.eq(self.line)]
        with m.If(self.take & ~requesting & (requested <= self.line + _DEPTH) & (requested != self._count)):
            m.d.sync += requesting.eq(1)
        return m
