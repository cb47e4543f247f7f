"""Columns and rows of elements that have a number: an input read as a linear array.

Source: R700-Family Instruction Set Architecture, chapter 5 (VTX_DWORD0); docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS, LIMITS
from ctm.rtl.border.clients import indices_layout
from ctm.rtl.isa.limits import COORDINATE_BITS, WORD_BITS


class LinearCoordinates(wiring.Component):
    """Divides the numbers of one pass's elements by the pitch, a bit of the quotients in each cycle.

    It takes 33 cycles: `done` is high 32 cycles after the first one with `start`. With a pitch of 0 the results are
    undefined.

    Members
    -------
    start : ``In(1)``
        High from the first cycle to that of `done`.
    numbers : ``In(ArrayLayout(32, lanes))``
        Read in the first cycle.
    pitch : ``In(13)``
    limits : ``In(LIMITS)``
        Stable until the results are read.
    done : ``Out(1)``
        The last cycle.
    x, y : ``Out(ArrayLayout(12, lanes))``
        Remainder and quotient, clamped to the input; with `done` and until the next division.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        indices = indices_layout(lanes)
        super().__init__(
            {
                "start": In(1),
                "numbers": In(data.ArrayLayout(WORD_BITS, lanes)),
                "pitch": In(LIMIT_BITS),
                "limits": In(LIMITS),
                "done": Out(1),
                "x": Out(indices),
                "y": Out(indices),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        step = Signal(range(WORD_BITS + 1))
        m.d.comb += self.done.eq(step == WORD_BITS)
        m.d.sync += step.eq(Mux(self.start & ~self.done, step + 1, 0))
        for lane in range(self._lanes):
            # The dividend is shifted out at the top, the quotient is shifted in at the bottom.
            quotient, remainder = (
                Signal(WORD_BITS, name=f"quotient_{lane}"),
                Signal(LIMIT_BITS, name=f"remainder_{lane}"),
            )
            dividend = Mux(step == 0, self.numbers[lane], quotient)
            larger = Cat(dividend[-1], Mux(step == 0, 0, remainder))
            fits = larger >= self.pitch
            with m.If(self.start & ~self.done):
                m.d.sync += [
                    remainder.eq(Mux(fits, larger - self.pitch, larger)),
                    quotient.eq(Cat(fits, dividend[:-1])),
                ]
            for number, limit, index in (
                (remainder, self.limits.width, self.x[lane]),
                (quotient, self.limits.height, self.y[lane]),
            ):
                m.d.comb += index.eq(Mux(number < limit, number, limit - 1)[:COORDINATE_BITS])
        return m
