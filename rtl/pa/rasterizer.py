"""The rasterizer: clipper, set-up and strip walker with one border.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.draws import RASTER_STATE, PositionReader, RecordClient, primitive_layout, strip_layout
from ctm.rtl.pa.arithmetic import Arithmetic
from ctm.rtl.pa.clipping.clipper import Clipper
from ctm.rtl.pa.setup import SetUp
from ctm.rtl.pa.strips import StripWalker

EVENTS = data.StructLayout({name: 1 for name in ("taken", "dropped", "clipped", "pieces", "culled", "strips")})
"""In the cycle before: a primitive was taken; the clipper dropped one; planes cut one; a piece went to set-up; set-up
dropped one; a strip was taken."""


class Rasterizer(wiring.Component):
    """Makes the strips of primitives, in the order of these.

    A primitive's pieces become shapes, see `Clipper` and `SetUp`; the strips of a shape come in rows, upwards.

    Clipper, set-up and strip walker work on a primitive each. A triangle that no plane cuts takes less than 200 cycles
    in each of the first two; the walker takes a quad in each cycle. No output follows from an input in the same cycle.

    Members
    -------
    state : ``In(RASTER_STATE)``
        Constant while not idle.
    primitive : ``In(stream.Signature(primitive_layout(vertices)))``
    positions : ``Out(PositionReader(vertices))``
    records : ``Out(RecordClient(records))``
        A record that is taken and not used is kept for the next shape, also while idle.
    strip : ``Out(stream.Signature(strip_layout(lanes, vertices, records)))``
    events : ``Out(EVENTS)``
    idle : ``Out(1)``
        All strips have been taken, and all records of shapes are made.
    """

    def __init__(self, *, vertices: int, records: int, lanes: int) -> None:
        self._vertices, self._records, self._lanes = vertices, records, lanes
        super().__init__(
            {
                "state": In(RASTER_STATE),
                "primitive": In(stream.Signature(primitive_layout(vertices))),
                "positions": Out(PositionReader(vertices)),
                "records": Out(RecordClient(records)),
                "strip": Out(stream.Signature(strip_layout(lanes, vertices, records))),
                "events": Out(EVENTS),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.arithmetic = arithmetic = Arithmetic()
        m.submodules.clipper = clipper = Clipper(self._vertices)
        m.submodules.set_up = set_up = SetUp(self._lanes, self._vertices, self._records)
        m.submodules.walker = walker = StripWalker(self._lanes, self._vertices, self._records)
        connect(m, flipped(self.primitive), clipper.primitive)
        connect(m, flipped(self.positions), clipper.positions)
        connect(m, clipper.piece, set_up.piece)
        connect(m, flipped(self.records.free), set_up.free)
        connect(m, set_up.walk, walker.walk)
        connect(m, flipped(self.strip), walker.strip)
        for number, unit in enumerate((set_up, clipper)):
            connect(m, unit.request, arithmetic.requests[number])
            m.d.comb += [unit.result.eq(arithmetic.results[number]), unit.state.eq(self.state)]
        m.d.comb += [
            self.records.write.eq(set_up.write),
            self.records.made.eq(walker.made),
            self.idle.eq(clipper.idle & set_up.idle & walker.idle),
        ]
        m.d.sync += [
            self.events.taken.eq(self.primitive.valid & self.primitive.ready),
            self.events.dropped.eq(clipper.dropped),
            self.events.clipped.eq(clipper.clipped),
            self.events.pieces.eq(clipper.given),
            self.events.culled.eq(set_up.dropped),
            self.events.strips.eq(self.strip.valid & self.strip.ready),
        ]
        return m
