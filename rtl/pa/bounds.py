"""The pixels that a shape can cover.

Source: docs/draws.md.
"""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import WINDOW_BITS
from ctm.rtl.isa.limits import COORDINATE_BITS, COORDINATE_LIMIT
from ctm.rtl.pa.shape import STEP_BITS


class Bounds(wiring.Component):
    """The first and the last column, or row, whose pixels' centres lie between the given coordinates, in a domain.

    `first`, `last` and `empty` are valid a cycle after the last coordinate, until the next first one.

    Members
    -------
    value : ``In(signed(WINDOW_BITS))``
    begins, goes_on : ``In(1)``
        `value` is the first coordinate, or another one. Both ends are inside.
    lower, upper : ``In(1)``
        `value` is the lower end, which is inside, or the upper one, which is not.
    low, high : ``In(12)``
        The domain's ends, both inside.
    first, last : ``Out(12)``
    empty : ``Out(1)``
        There is no pixel; `first` and `last` may be any.
    """

    value: In(signed(WINDOW_BITS))
    begins: In(1)
    goes_on: In(1)
    lower: In(1)
    upper: In(1)
    low: In(COORDINATE_BITS)
    high: In(COORDINATE_BITS)
    first: Out(COORDINATE_BITS)
    last: Out(COORDINATE_BITS)
    empty: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bits = COORDINATE_BITS + 1
        first, end = Signal(bits, reset_less=True), Signal(bits, reset_less=True)
        whole = self.value[STEP_BITS:].as_signed()
        # The first pixel at or behind the coordinate, and the first behind it.
        at = _limited(m, whole + self.value[:STEP_BITS].any())
        behind = _limited(m, whole + 1)
        with m.If(self.begins | self.lower | (self.goes_on & (at < first))):
            m.d.sync += first.eq(at)
        with m.If(self.upper):
            m.d.sync += end.eq(at)
        with m.Elif(self.begins | (self.goes_on & (behind > end))):
            m.d.sync += end.eq(behind)
        inner_first, inner_end = Signal(bits), Signal(bits)
        m.d.comb += [
            inner_first.eq(Mux(first < self.low, self.low, first)),
            inner_end.eq(Mux(end > self.high, self.high + 1, end)),
            self.first.eq(inner_first),
            self.last.eq(inner_end - 1),
            self.empty.eq(inner_first >= inner_end),
        ]
        return m


def _limited(m: Module, number: Value) -> Signal:
    """A signed number, at least 0 and at most the limit of coordinates."""
    result = Signal(COORDINATE_BITS + 1, name="limited")
    with m.If(number < 0):
        m.d.comb += result.eq(0)
    with m.Elif(number[COORDINATE_BITS:-1].any()):
        m.d.comb += result.eq(COORDINATE_LIMIT)
    with m.Else():
        m.d.comb += result.eq(number)
    return result
