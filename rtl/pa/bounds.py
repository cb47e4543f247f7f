"""The pixels that a shape can cover.

Source: docs/draws.md.
"""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import WINDOW_BITS
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.limits import COORDINATE_BITS, COORDINATE_LIMIT
from ctm.rtl.pa.shape import STEP_BITS

_LIMIT = COORDINATE_BITS + 1
"""Width of an index of pixels, or of the limit."""


class Bounds(wiring.Component):
    """The first and the last column, or row, whose pixels' centres lie between the given coordinates, in a domain.

    One of both axes in each cycle. A coordinate counts from the next cycle on.

    Members
    -------
    axis : ``In(1)``
        0 for columns, 1 for rows; of the coordinate that is given, and of what is asked for.
    value : ``In(signed(WINDOW_BITS))``
    begins, goes_on : ``In(1)``
        `value` is the axis's first coordinate, or another one. Both ends are inside.
    lower, upper : ``In(1)``
        `value` is the lower end, which is inside, or the upper one, which is not.
    domain : ``In(DOMAIN)``
    first, last : ``Out(12)``
    empty : ``Out(1)``
        There is no pixel; `first` and `last` may be any.
    """

    axis: In(1)
    value: In(signed(WINDOW_BITS))
    begins: In(1)
    goes_on: In(1)
    lower: In(1)
    upper: In(1)
    domain: In(DOMAIN)
    first: Out(COORDINATE_BITS)
    last: Out(COORDINATE_BITS)
    empty: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        firsts, ends = (
            [Signal(_LIMIT, name=f"{name}_{axis}", reset_less=True) for axis in "xy"] for name in ("first", "end")
        )
        first, end = Mux(self.axis, firsts[1], firsts[0]), Mux(self.axis, ends[1], ends[0])
        whole = self.value[STEP_BITS:].as_signed()
        # The first pixel at or after the coordinate, and the first after it.
        at = _limited(m, whole + self.value[:STEP_BITS].any())
        after = _limited(m, whole + (~self.upper | self.value[:STEP_BITS].any()))
        for axis in range(2):
            with m.If(self.axis == axis):
                with m.If(self.begins | self.lower | (self.goes_on & (at < first))):
                    m.d.sync += firsts[axis].eq(at)
                with m.If(self.begins | self.upper | (self.goes_on & (after > end))):
                    m.d.sync += ends[axis].eq(after)
        low = Mux(self.axis, self.domain.j0, self.domain.i0)
        high = Mux(self.axis, self.domain.j1, self.domain.i1)
        inner_first, inner_end = Signal(_LIMIT), Signal(_LIMIT)
        m.d.comb += [
            inner_first.eq(Mux(first < low, low, first)),
            inner_end.eq(Mux(end > high, high + 1, end)),
            self.first.eq(inner_first),
            self.last.eq(inner_end - 1),
            self.empty.eq(inner_first >= inner_end),
        ]
        return m


def _limited(m: Module, number: Value) -> Signal:
    """A signed number, at least 0 and at most the limit of coordinates."""
    result = Signal(_LIMIT, name="limited")
    with m.If(number < 0):
        m.d.comb += result.eq(0)
    with m.Elif(number[COORDINATE_BITS:-1].any()):
        m.d.comb += result.eq(COORDINATE_LIMIT)
    with m.Else():
        m.d.comb += result.eq(number)
    return result
