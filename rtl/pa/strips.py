"""The strip walker: wavefronts of the pixels that a shape covers, in order.

Source: docs/draws.md. An edge value changes from pixel to pixel by 256 dx and 256 dy, so its low eight bits are the
same everywhere, and the sums are those of the upper bits. It is twice the area of the triangle of an edge and the
pixel. Vertices and the pixels of all strips lie in a square of side 2^24 (1/256 pixel), in which no triangle has more
than half its area: twice that is at most 2^48, which EDGE_BITS hold.
"""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import CORNERS, EDGE_BITS, strip_layout
from ctm.rtl.isa.limits import COORDINATE_BITS, QUAD
from ctm.rtl.lib.views import record
from ctm.rtl.pa.shape import STEP_BITS, walk_layout

_SUM = signed(EDGE_BITS - STEP_BITS)


class StripWalker(wiring.Component):
    """Gives the strips of a shape: neighbouring quads of a row, from the first strip to the right and rows upwards.

    A quad takes a cycle, from the left end of its strip to the last column of the shape; a strip is given a cycle after
    its last quad, if it has a covered pixel. The next quad waits while a strip does. A shape is taken in front of its
    first quad, when all strips of the one before have been taken.

    Members
    -------
    walk : ``In(stream.Signature(walk_layout(vertices, records)))``
    strip : ``Out(stream.Signature(strip_layout(lanes, vertices, records)))``
    made : ``Out({valid, payload})``
        All strips of the shape with this record have been taken.
    idle : ``Out(1)``
        All strips have been taken.
    """

    def __init__(self, lanes: int, vertices: int, records: int) -> None:
        if lanes < QUAD or lanes & lanes - 1:
            raise ValueError(f"lanes must be a power of two from {QUAD} on, not {lanes}")
        self._lanes, self._quads = lanes, lanes // QUAD
        self._layout = walk_layout(vertices, records)
        super().__init__(
            {
                "walk": In(stream.Signature(self._layout)),
                "strip": Out(stream.Signature(strip_layout(lanes, vertices, records))),
                "made": Out(data.StructLayout({"valid": 1, "payload": range(records)})),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        strip, begin = self.strip, self.walk.payload
        walk, walking, held = record(self._layout, reset_less=True), Signal(), Signal()
        column, row = (Signal(COORDINATE_BITS - 1, name=name, reset_less=True) for name in ("column", "row"))
        free, moves = ~strip.valid | strip.ready, Signal()
        ends_row, ends = Signal(), Signal()
        m.d.comb += [
            moves.eq(walking & free),
            ends_row.eq(column == walk.pixels.last[0][1:]),
            ends.eq(ends_row & (row == walk.pixels.last[1][1:])),
            self.walk.ready.eq(~walking & free),
            self.idle.eq(~held & ~self.made.valid),
        ]
        with m.If(moves):
            m.d.sync += [column.eq(column + 1), walking.eq(~ends)]
            with m.If(ends_row):
                m.d.sync += [column.eq(walk.pixels.column[1:]), row.eq(row + 1)]
        self._cover(m, walk, (column, row), moves, ends_row)
        m.d.sync += self.made.valid.eq(held & ~walking & free)
        m.d.sync += self.made.payload.eq(walk.constants.record)
        with m.If(self.walk.ready):
            m.d.sync += [held.eq(self.walk.valid), walking.eq(self.walk.valid & ~begin.pixels.empty)]
            m.d.sync += [walk.eq(begin), column.eq(begin.pixels.column[1:]), row.eq(begin.pixels.row[1:])]
        return m

    def _cover(
        self, m: Module, walk: data.View, position: tuple[Signal, Signal], moves: Value, ends_row: Value
    ) -> None:
        """Look at a quad in each cycle, and make the strip in front of its register."""
        strip, (column, row) = self.strip, position
        sums = [self._sum(m, walk, edge, moves, ends_row) for edge in range(CORNERS)]
        number, begins, some = Signal(range(max(2, self._quads))), Signal(), Signal()
        columns, rows = (self._inside(m, walk, axis, position[axis]) for axis in range(2))
        quad = Signal(QUAD)
        for lane in range(QUAD):
            outside = Cat(own[lane][-1] for own in sums).any()
            m.d.comb += quad[lane].eq(~outside & columns[lane & 1] & rows[lane >> 1])
        ends_strip = ends_row | (number == self._quads - 1)
        found = quad.any() | (some & ~begins)
        m.d.comb += begins.eq(number == 0)
        with m.If(strip.ready):
            m.d.sync += strip.valid.eq(0)
        with m.If(moves):
            m.d.sync += [strip.valid.eq(ends_strip & found), some.eq(found)]
            m.d.sync += number.eq(Mux(ends_strip, 0, number + 1))
            with m.If(begins):
                m.d.sync += [strip.payload.i.eq(column << 1), strip.payload.j.eq(row << 1), strip.payload.covered.eq(0)]
                for edge, own in enumerate(sums):
                    exact = Cat(walk.edges[edge].value[:STEP_BITS], own[0]) + walk.strict[edge]
                    m.d.sync += strip.payload.edges[edge].value.eq(exact)
            m.d.sync += strip.payload.covered.word_select(number, QUAD).eq(quad)
        m.d.comb += strip.payload.constants.eq(walk.constants)
        for edge in range(CORNERS):
            own_edge = walk.edges[edge]
            m.d.comb += [strip.payload.edges[edge].dx.eq(own_edge.dx), strip.payload.edges[edge].dy.eq(own_edge.dy)]

    def _sum(self, m: Module, walk: data.View, edge: int, moves: Value, ends_row: Value) -> list[Signal]:
        """An edge value's upper bits at the four pixels of the quad."""
        here, left = (Signal(_SUM, name=name, reset_less=True) for name in ("here", "left"))
        dx, dy = walk.edges[edge].dx, walk.edges[edge].dy
        above, upwards = Signal(_SUM, name="above"), Signal(_SUM, name="upwards")
        beside, across = Signal(_SUM, name="beside"), Signal(_SUM, name="across")
        m.d.comb += [
            beside.eq(here - dy),
            above.eq(here + dx),
            across.eq(above - dy),
            upwards.eq(left + (dx << 1)),
        ]
        with m.If(moves):
            m.d.sync += here.eq(here - (dy << 1))
            with m.If(ends_row):
                m.d.sync += [here.eq(upwards), left.eq(upwards)]
        with m.If(self.walk.ready):
            begin = self.walk.payload.edges[edge].value[STEP_BITS:]
            m.d.sync += [here.eq(begin), left.eq(begin)]
        return [here, beside, above, across]

    def _inside(self, m: Module, walk: data.View, axis: int, position: Value) -> tuple[Value, Value]:
        """Whether the quad's first and second column or row is one of the shape's."""
        first, last = walk.pixels.first[axis], walk.pixels.last[axis]
        after, begins, ends = (Signal(name=name) for name in ("after", "begins", "ends"))
        m.d.comb += [
            after.eq(position >= first[1:]),
            begins.eq(position == first[1:]),
            ends.eq(position == last[1:]),
        ]
        return after & ~(begins & first[0]), after & ~(ends & ~last[0])
