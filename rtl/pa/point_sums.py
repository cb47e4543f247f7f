"""The ends and the side of a point, a square.

Source: docs/draws.md; docs/design/draws.md has the cycles.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.pa.arithmetic import TAG_BITS
from ctm.rtl.pa.bounds import BOUND
from ctm.rtl.pa.coordinates import CONTROL
from ctm.rtl.pa.registers import AREA, ROW_WORD, SPARE

CONVERSION = data.StructLayout({"valid": 1, "tag": TAG_BITS})
"""The total is to be converted to a float, to where its tag says."""


class PointSums(wiring.Component):
    """Leads `Coordinates` and `Bounds` through the sums of a point.

    Of each axis these are the lower end, which is multiplied by 1 and converted, and the upper end; then twice half
    the side, which is converted. A sum takes five cycles, and those in which its conversion waits.

    Cycles of an axis: the left factor is set to the lower end; it is a bound, and the right factor set to 1; the left
    factor is set to the upper end; that is a bound; the product is converted.

    Members
    -------
    enable : ``In(1)``
        High until `done` and for two cycles more.
    control : ``Out(CONTROL)``
        Of `Coordinates`.
    bound : ``Out(BOUND)``
        Of `Bounds`; the walker's pixels are taken in the first two cycles of `done`.
    conversion : ``Out(CONVERSION)``
    converts : ``In(1)``
        It is taken.
    done : ``Out(1)``
        All conversions were taken.
    """

    enable: In(1)
    control: Out(CONTROL)
    bound: Out(BOUND)
    conversion: Out(CONVERSION)
    converts: In(1)
    done: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        step, number = Signal(range(5)), Signal(2)
        selection, factors, is_side = self.control.selection, self.control.factors, number == 2
        m.d.comb += [
            selection.minuend.axis.eq(number[0]),
            selection.subtrahend.vertex.eq(SPARE),
            selection.nothing.eq(is_side),
            selection.half.eq(1),
            selection.adds.eq(is_side | (step != 0)),
            # The upper end follows the lower one, when that has been multiplied.
            factors.left.eq((step == 0) | (step == 2)),
            factors.right.eq(step == 1),
            factors.constant.eq(Mux(is_side, 2, 1)),
            factors.first.eq(1),
            self.done.eq(number == 3),
            self.bound.axis.eq(Mux(self.done, step[0], number[0])),
            self.bound.lower.eq((step == 1) & ~number[1]),
            self.bound.upper.eq((step == 3) & ~number[1]),
            self.bound.gives.eq(self.done & (step < 2)),
            self.conversion.valid.eq(~self.done & (step == 4)),
            self.conversion.tag.eq(Mux(is_side, AREA, Cat(number[0], Const(ROW_WORD >> 1, TAG_BITS - 1)))),
        ]
        with m.If(~self.enable):
            m.d.sync += [step.eq(0), number.eq(0)]
        with m.Elif(self.bound.gives | (~self.done & (step != 4))):
            m.d.sync += step.eq(step + 1)
        with m.Elif(self.converts):
            m.d.sync += [number.eq(number + 1), step.eq(0)]
        return m
