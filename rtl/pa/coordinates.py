"""Snapped window coordinates, their differences, and sums of products of these.

Source: docs/draws.md; the widths of rtl/border/draws.py.
"""

from amaranth import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import CORNERS, EDGE_BITS, SIDE_BITS, WINDOW_BITS
from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.limits import COORDINATE_BITS
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.pa.shape import STEP_BITS

_RADIUS_BITS, _HALF_BITS = 16, 21

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
CONTROL = data.StructLayout({"selection": SELECTION, "position": COORDINATE_BITS, "factors": FACTORS, "bias": 1})
"""What is computed in a cycle. `position`: a pixel's column or row. `bias`: the total begins at -1; sampled two cycles
after the first product's right factor was set."""
RADIUS = data.StructLayout({"given": 1, "value": _RADIUS_BITS})
"""Half a side of a point in 1/16 pixel, if the draw gives it."""


class Sums(Interface):
    """What `Coordinates` computes, seen from it.

    Members
    -------
    sum : ``Out(signed(SIDE_BITS))``
        Follows from its `control` in the same cycle.
    left : ``Out(signed(SIDE_BITS))``
        The left factor.
    total : ``Out(signed(EDGE_BITS))``
        Both are registers.
    """

    def __init__(self) -> None:
        super().__init__(
            {"sum": Out(signed(SIDE_BITS)), "left": Out(signed(SIDE_BITS)), "total": Out(signed(EDGE_BITS))}
        )


class Coordinates(wiring.Component):
    """Keeps the coordinates of a shape's vertices, and adds products of their differences.

    A product is in the total three cycles after its right factor was set; one may be set in each second cycle.

    Members
    -------
    snapped : ``In(SNAPPED)``
        A coordinate to be kept.
    radius : ``In(RADIUS)``
        Constant.
    control : ``In(CONTROL)``
    half : ``Out(WINDOW_BITS - 1)``
        Half a side of a point in 1/256 pixel, at most 2^21: of the radius, or the subtrahend's coordinate, and 0
        instead of a negative one.
    sums : ``Out(Sums())``
    """

    snapped: In(SNAPPED)
    radius: In(RADIUS)
    control: In(CONTROL)
    half: Out(WINDOW_BITS - 1)
    sums: Out(Sums())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        selection, factors = self.control.selection, self.control.factors
        m.submodules.coordinates = coordinates = DistributedRam(signed(WINDOW_BITS), 2 * (CORNERS + 1))
        coordinates.write(m, self.snapped.at.as_value(), self.snapped.value, self.snapped.valid)
        kept, minuend, subtrahend = (Signal(signed(WINDOW_BITS), name=n) for n in ("kept", "minuend", "subtrahend"))
        m.d.comb += [
            kept.eq(coordinates.read(m, selection.subtrahend.as_value())),
            minuend.eq(coordinates.read(m, selection.minuend.as_value())),
            subtrahend.eq(Mux(selection.half, self.half, kept)),
        ]
        self._halve(m, kept)
        with m.If(selection.pixel):
            m.d.comb += minuend.eq(Cat(Const(0, STEP_BITS), self.control.position))
        with m.If(selection.nothing):
            m.d.comb += minuend.eq(0)
        # One carry chain: the complement and a one from below, or the number itself.
        term = Cat(subtrahend, subtrahend[-1]) ^ (~selection.adds).replicate(SIDE_BITS)
        m.d.comb += self.sums.sum.eq((Cat(~selection.adds, minuend, minuend[-1]) + Cat(~selection.adds, term))[1:])

        left, right = (Signal(signed(SIDE_BITS), name=name, reset_less=True) for name in ("left", "right"))
        product = Signal(signed(2 * SIDE_BITS), reset_less=True)
        multiplies, adds = Signal(), Signal()
        kind = data.StructLayout({"subtracts": 1, "first": 1})
        stages = [Signal(kind, name=f"stage_{number}", reset_less=True) for number in range(2)]
        m.d.comb += self.sums.left.eq(left)
        m.d.sync += [product.eq(left * right), multiplies.eq(factors.right), adds.eq(multiplies)]
        m.d.sync += [stages[0].subtracts.eq(factors.subtracts), stages[0].first.eq(factors.first)]
        m.d.sync += stages[1].eq(stages[0])
        with m.If(factors.left):
            m.d.sync += left.eq(self.sums.sum)
        with m.If(factors.right):
            m.d.sync += right.eq(Mux(factors.constant.any(), factors.constant, self.sums.sum))
        with m.If(adds):
            begin = Mux(stages[1].first, self.control.bias.replicate(EDGE_BITS).as_signed(), self.sums.total)
            term = product[:EDGE_BITS].as_signed()
            m.d.sync += self.sums.total.eq(Mux(stages[1].subtracts, begin - term, begin + term))
        return m

    def _halve(self, m: Module, kept: Signal) -> None:
        m.d.comb += self.half.eq(kept)
        with m.If(self.radius.given):
            m.d.comb += self.half.eq(self.radius.value << STEP_BITS // 2)
        with m.Elif(kept[-1]):
            m.d.comb += self.half.eq(0)
        with m.Elif(kept[_HALF_BITS:].any()):
            m.d.comb += self.half.eq(1 << _HALF_BITS)
