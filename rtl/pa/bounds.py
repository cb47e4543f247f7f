"""The pixels that a shape can cover.

Source: docs/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import WINDOW_BITS
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.limits import COORDINATE_BITS, COORDINATE_LIMIT
from ctm.rtl.pa.shape import PIXELS, STEP_BITS

_LIMIT = COORDINATE_BITS + 1
"""Width of an index of pixels, or of the limit."""


BOUND = data.StructLayout({"axis": 1, "begins": 1, "goes_on": 1, "lower": 1, "upper": 1, "gives": 1})
"""What a cycle is for, for an axis: 0 for columns, 1 for rows. `begins`, `goes_on`: the value is the axis's first
coordinate, or another one; both ends are inside. `lower`, `upper`: it is the lower end, which is inside, or the upper
one, which is not. `gives`: the axis's pixels are given."""


class Bounds(wiring.Component):
    """The first and the last column, or row, whose pixels' centres lie between the given coordinates, in a domain.

    One of both axes in each cycle. A coordinate counts from the next cycle on.

    Parameters
    ----------
    lanes
        Of a strip, half of them in a row.

    Members
    -------
    value : ``In(signed(WINDOW_BITS))``
    bound : ``In(BOUND)``
    domain : ``In(DOMAIN)``
    pixels : ``Out(PIXELS)``
        Those of an axis a cycle after they are given; columns first. If one axis is empty, the others may be any.
    """

    value: In(signed(WINDOW_BITS))
    bound: In(BOUND)
    domain: In(DOMAIN)
    pixels: Out(PIXELS)

    def __init__(self, lanes: int) -> None:
        self._column_bits = (lanes // 2).bit_length() - 1
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bound = self.bound
        firsts, ends = (
            [Signal(_LIMIT, name=f"{name}_{axis}", reset_less=True) for axis in "xy"] for name in ("first", "end")
        )
        first, end = Mux(bound.axis, firsts[1], firsts[0]), Mux(bound.axis, ends[1], ends[0])
        whole = self.value[STEP_BITS:].as_signed()
        # The first pixel at or after the coordinate, and the first after it.
        at = _limited(m, whole + self.value[:STEP_BITS].any())
        after = _limited(m, whole + (~bound.upper | self.value[:STEP_BITS].any()))
        for axis in range(2):
            with m.If(bound.axis == axis):
                with m.If(bound.begins | bound.lower | (bound.goes_on & (at < first))):
                    m.d.sync += firsts[axis].eq(at)
                with m.If(bound.begins | bound.upper | (bound.goes_on & (after > end))):
                    m.d.sync += ends[axis].eq(after)
        low = Mux(bound.axis, self.domain.j0, self.domain.i0)
        high = Mux(bound.axis, self.domain.j1, self.domain.i1)
        inner_first, inner_end = Signal(_LIMIT), Signal(_LIMIT)
        m.d.comb += [
            inner_first.eq(Mux(first < low, low, first)),
            inner_end.eq(Mux(end > high, high + 1, end)),
        ]
        with m.If(bound.gives):
            self._give(m, inner_first[:COORDINATE_BITS], (inner_end - 1)[:COORDINATE_BITS], inner_first >= inner_end)
        return m

    def _give(self, m: Module, first: Value, last: Value, is_empty: Value) -> None:
        """Keep the pixels of an axis, and where the first strip begins: strips follow the domain's first column."""
        pixels, axis = self.pixels, self.bound.axis
        m.d.sync += [pixels.first[axis].eq(first), pixels.last[axis].eq(last)]
        with m.If(axis):
            m.d.sync += [pixels.row.eq(first[1:] << 1), pixels.empty.eq(pixels.empty | is_empty)]
        with m.Else():
            offset = (first - Cat(Const(0, 1), self.domain.i0[1:]))[: self._column_bits]
            m.d.sync += [pixels.column.eq(first - offset), pixels.empty.eq(is_empty)]


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
