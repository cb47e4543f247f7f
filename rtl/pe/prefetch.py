"""Lines of an image, and those behind them, before anybody asks for them."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.isa.limits import ADDRESS_BITS

_AHEAD = 3


class LinePrefetch(wiring.Component):
    """Reads lines in order; with a line it asks for the three behind it, because parts of an image follow each other.

    Lines are numbered from `base` on. One that is not needed is dropped, refused or not.

    Members
    -------
    base : ``In(32)``
        A multiple of 64. Addresses wrap.
    line : ``In(range(lines + 1))``
        The line that is wanted; stays from `aim` until `found`.
    aim : ``In(1)``
        Make it one that is under way or the next to be asked for, and drop what is before; high until `aimed`.
    aimed : ``Out(1)``
    take : ``In(1)``
        Wait for it; only behind `aimed`, high until `found`.
    found : ``Out(1)``
        It is there, in this cycle only.
    bits : ``Out(512)``
    error : ``Out(1)``
        With `found`: memory refused it, `bits` mean nothing.
    drop : ``In(1)``
        Drop all lines that are under way; high until `drained`.
    drained : ``Out(1)``
        No line is under way.
    lines : ``Out(LineClient())``
    """

    def __init__(self, lines: int) -> None:
        self._count = lines
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "line": In(range(lines + 1)),
                "aim": In(1),
                "aimed": Out(1),
                "take": In(1),
                "found": Out(1),
                "bits": Out(LINE_BITS),
                "error": Out(1),
                "drop": In(1),
                "drained": Out(1),
                "lines": Out(LineClient()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response = self.lines.request, self.lines.response
        # The next line to be asked for, and the next one to come.
        asked, coming, asking = Signal(range(self._count + 1)), Signal(range(self._count + 1)), Signal()
        is_near = (coming <= self.line) & (self.line <= asked)
        m.d.comb += [
            request.valid.eq(asking),
            request.payload.line.eq((self.base >> LINE_OFFSET_BITS) + asked),
            request.payload.uncached.eq(1),
            response.ready.eq(self.drop | self.take | (self.aim & ~self.aimed)),
            self.drained.eq((asked == coming) & ~asking),
            self.aimed.eq(is_near | self.drained),
            self.found.eq(self.take & response.valid & (coming == self.line)),
            self.bits.eq(response.payload.bits),
            self.error.eq(response.payload.error),
        ]
        with m.If(asking & request.ready):
            m.d.sync += [asking.eq(0), asked.eq(asked + 1)]
        with m.If(response.valid & response.ready):
            m.d.sync += coming.eq(coming + 1)
        with m.If(self.aim & ~is_near & self.drained):
            m.d.sync += [asked.eq(self.line), coming.eq(self.line)]
        with m.If(self.take & ~asking & (asked <= self.line + _AHEAD) & (asked != self._count)):
            m.d.sync += asking.eq(1)
        return m
