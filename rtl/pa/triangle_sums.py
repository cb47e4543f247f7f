"""The sums of products of a triangle: its area and the values of its edges.

Source: docs/draws.md; docs/design/draws.md has the cycles.
"""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import CORNERS, EDGE
from ctm.rtl.isa.limits import COORDINATE_BITS
from ctm.rtl.pa.coordinates import CONTROL, Sums

_AREA_STEPS, _EDGE_STEPS = 6, 15


class TriangleSums(wiring.Component):
    """Leads `Coordinates` through the sums of a triangle, one difference in each cycle.

    The area takes 7 cycles, the edges 16.

    Members
    -------
    area : ``In(1)``
        High until `done`: the total becomes (X0 - X2)(Y1 - Y0) - (X1 - X0)(Y0 - Y2).
    edges : ``In(1)``
        High until `done` or longer: edge values at a pixel, for each edge dx, row - Y, dy, column - X.
    turned : ``In(1)``
        The area is negative: edges go from their second vertex to their first.
    column, row : ``In(12)``
        The pixel.
    sums : ``In(Sums())``
        Those of `Coordinates`.
    control : ``Out(CONTROL)``
        Of `Coordinates`.
    clear : ``In(1)``
        All edges become 0.
    values : ``Out(data.ArrayLayout(EDGE, 3))``
        Registered.
    strict : ``Out(3)``
        Of each edge: a pixel on it is outside, and its value is less by 1. Registered.
    done : ``Out(1)``
        All differences were taken. The last product of the area is added meanwhile, all values are there.
    """

    area: In(1)
    edges: In(1)
    turned: In(1)
    column: In(COORDINATE_BITS)
    row: In(COORDINATE_BITS)
    sums: In(Sums())
    control: Out(CONTROL)
    clear: In(1)
    values: Out(data.ArrayLayout(EDGE, CORNERS))
    strict: Out(CORNERS)
    done: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        step = Signal(range(_EDGE_STEPS + 1))
        m.d.comb += self.done.eq(step == Mux(self.edges, _EDGE_STEPS, _AREA_STEPS))
        with m.If(~self.area & ~self.edges):
            m.d.sync += step.eq(0)
        with m.Elif(~self.done):
            m.d.sync += step.eq(step + 1)
        with m.If(self.edges):
            self._edges(m, step)
        with m.Else():
            self._area(m, step)
        # After all other assignments: a synchronous reset of the registers, which takes no LUT.
        with m.If(self.clear):
            m.d.sync += [self.values.eq(0), self.strict.eq(0)]
        return m

    def _area(self, m: Module, step: Signal) -> None:
        selection, factors = self.control.selection, self.control.factors
        is_inner = (step == 1) | (step == 2)
        m.d.comb += [
            selection.minuend.axis.eq(step[0]),
            selection.subtrahend.axis.eq(step[0]),
            selection.minuend.vertex.eq(is_inner),
            selection.subtrahend.vertex.eq(Mux(is_inner, 0, 2)),
            factors.left.eq((step == 0) | (step == 2)),
            factors.right.eq((step == 1) | (step == 3)),
            factors.first.eq(step == 1),
            factors.subtracts.eq(step == 3),
        ]

    def _edges(self, m: Module, step: Signal) -> None:
        selection, factors = self.control.selection, self.control.factors
        edge, phase = step[2:], step[:2]
        first, second = Mux(edge == 2, 0, edge + 1), Mux(edge == 0, 2, edge - 1)
        strict, dx_negative = Signal(), Signal()
        m.d.comb += [
            selection.minuend.axis.eq(phase[1]),
            selection.subtrahend.axis.eq(phase[0] ^ phase[1]),
            selection.minuend.vertex.eq(Mux(self.turned, first, second)),
            selection.subtrahend.vertex.eq(Mux(~phase[0] & self.turned, second, first)),
            selection.pixel.eq(phase[0]),
            self.control.position.eq(Mux(phase[1], self.column, self.row)),
            factors.left.eq(~phase[0]),
            factors.right.eq(phase[0]),
            factors.first.eq(~phase[1]),
            factors.subtracts.eq(phase[1]),
            dx_negative.eq(self.values[edge].dx[-1]),
            strict.eq(~(self.sums.left[-1] | (~self.sums.left.any() & ~dx_negative))),
            self.control.bias.eq(strict),
        ]
        with m.If(edge != CORNERS), m.Switch(phase):
            with m.Case(0):
                m.d.sync += self.values[edge].dx.eq(self.sums.sum)
            with m.Case(2):
                m.d.sync += self.values[edge].dy.eq(self.sums.sum)
            with m.Case(3):
                m.d.sync += self.strict.bit_select(edge, 1).eq(strict)
        # Both products of an edge are there in the third step of the next one.
        with m.If((edge != 0) & (phase == 2)):
            m.d.sync += self.values[(edge - 1)[:2]].value.eq(self.sums.total)
