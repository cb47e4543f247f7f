"""Snapped window coordinates, their differences, and sums of products of these.

Source: docs/draws.md; the widths of rtl/border/draws.py.
"""

from amaranth import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import CORNERS, EDGE_BITS, SIDE_BITS, WINDOW_BITS
from ctm.rtl.isa.limits import COORDINATE_BITS
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.pa.shape import STEP_BITS

COORDINATE = data.StructLayout({"vertex": range(CORNERS + 1), "axis": 1})
"""Which coordinate: x or y of a vertex; after the vertices is half a side of a point, on the axis x."""
SNAPPED = data.StructLayout({"valid": 1, "at": COORDINATE, "value": signed(WINDOW_BITS)})
SELECTION = data.StructLayout(
    {"minuend": COORDINATE, "subtrahend": COORDINATE, "pixel": 1, "half": 1, "adds": 1, "nothing": 1}
)
"""`sum` = minuend - subtrahend. With `pixel` the minuend is `position`, with `nothing` 0; with `half` the subtrahend is
`half`; with `adds` it is added."""
FACTORS = data.StructLayout({"left": 1, "right": 1, "constant": 2, "subtracts": 1, "first": 1})
"""Which factor is set to `sum`; the right one to `constant`, if that is not 0. With the right one the product is added
or subtracted; `first`: to the bias."""


class Coordinates(wiring.Component):
    """Keeps the coordinates of a shape's vertices, and adds products of their differences.

    `sum` follows from `selection` in the same cycle. A product is in `total` three cycles after its right factor was
    set; one product may be set in each second cycle.

    Members
    -------
    snapped : ``In(SNAPPED)``
        A coordinate to be kept.
    position : ``In(12)``
        A pixel's column or row.
    half : ``In(WINDOW_BITS - 1)``
    kept : ``Out(signed(WINDOW_BITS))``
        The subtrahend's coordinate.
    selection : ``In(SELECTION)``
    sum : ``Out(signed(SIDE_BITS))``
    factors : ``In(FACTORS)``
    bias : ``In(1)``
        The total begins at -1; sampled two cycles after the first product's right factor was set.
    left : ``Out(signed(SIDE_BITS))``
    total : ``Out(signed(EDGE_BITS))``
    """

    snapped: In(SNAPPED)
    position: In(COORDINATE_BITS)
    half: In(WINDOW_BITS - 1)
    kept: Out(signed(WINDOW_BITS))
    selection: In(SELECTION)
    sum: Out(signed(SIDE_BITS))
    factors: In(FACTORS)
    bias: In(1)
    left: Out(signed(SIDE_BITS))
    total: Out(signed(EDGE_BITS))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        selection, factors = self.selection, self.factors
        m.submodules.coordinates = coordinates = DistributedRam(signed(WINDOW_BITS), 2 * (CORNERS + 1))
        coordinates.write(m, self.snapped.at.as_value(), self.snapped.value, self.snapped.valid)
        minuend, subtrahend = Signal(signed(WINDOW_BITS)), Signal(signed(WINDOW_BITS))
        m.d.comb += [
            self.kept.eq(coordinates.read(m, selection.subtrahend.as_value())),
            minuend.eq(coordinates.read(m, selection.minuend.as_value())),
            subtrahend.eq(Mux(selection.half, self.half, self.kept)),
        ]
        with m.If(selection.pixel):
            m.d.comb += minuend.eq(Cat(Const(0, STEP_BITS), self.position))
        with m.If(selection.nothing):
            m.d.comb += minuend.eq(0)
        # One carry chain: the complement and a one from below, or the number itself.
        term = Cat(subtrahend, subtrahend[-1]) ^ (~selection.adds).replicate(SIDE_BITS)
        m.d.comb += self.sum.eq((Cat(~selection.adds, minuend, minuend[-1]) + Cat(~selection.adds, term))[1:])

        left, right = (Signal(signed(SIDE_BITS), name=name, reset_less=True) for name in ("left", "right"))
        product = Signal(signed(2 * SIDE_BITS), reset_less=True)
        multiplies, adds = Signal(), Signal()
        kind = data.StructLayout({"subtracts": 1, "first": 1})
        stages = [Signal(kind, name=f"stage_{number}", reset_less=True) for number in range(2)]
        m.d.comb += self.left.eq(left)
        m.d.sync += [product.eq(left * right), multiplies.eq(factors.right), adds.eq(multiplies)]
        m.d.sync += [stages[0].subtracts.eq(factors.subtracts), stages[0].first.eq(factors.first)]
        m.d.sync += stages[1].eq(stages[0])
        with m.If(factors.left):
            m.d.sync += left.eq(self.sum)
        with m.If(factors.right):
            m.d.sync += right.eq(Mux(factors.constant.any(), factors.constant, self.sum))
        with m.If(adds):
            begin = Mux(stages[1].first, self.bias.replicate(EDGE_BITS).as_signed(), self.total)
            term = product[:EDGE_BITS].as_signed()
            m.d.sync += self.total.eq(Mux(stages[1].subtracts, begin - term, begin + term))
        return m
