"""The clipper: primitives in clip space to pieces that set-up can snap.

Source: docs/draws.md; docs/design/draws.md.
"""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.draws import CORNERS, RASTER_STATE, PositionReader, primitive_layout
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.views import record
from ctm.rtl.pa.arithmetic import REQUEST, RESULT
from ctm.rtl.pa.clipping.cutter import Cutter
from ctm.rtl.pa.clipping.loader import VertexLoader
from ctm.rtl.pa.clipping.operands import PAIR, Form, Operands
from ctm.rtl.pa.clipping.planes import ALL_CLIPPING, CLIPPING, SIDES, Plane, axis_of, is_negative, is_outside
from ctm.rtl.pa.clipping.polygon import ADDRESS, READ, WRITE, address
from ctm.rtl.pa.clipping.sender import PieceSender
from ctm.rtl.pa.piece import piece_layout

_W = 3
_PLANES = len(Plane)


class Clipper(wiring.Component):
    """Drops primitives that cannot be seen and cuts triangles; gives the pieces, in the order of their primitives.

    A triangle that no plane cuts takes 115 cycles from its acceptance to its last word, with distances 30 more; each
    plane that a vertex is outside of some 350, a clip distance some 450. The next primitive is taken after all pieces.

    Members
    -------
    state : ``In(RASTER_STATE)``
        Constant while not idle.
    primitive : ``In(stream.Signature(primitive_layout(vertices)))``
    positions : ``Out(PositionReader(vertices))``
    request : ``Out(stream.Signature(REQUEST))``
    result : ``In(RESULT)``
    piece : ``Out(stream.Signature(piece_layout(vertices)))``
    dropped, clipped, given : ``Out(1)``
        Each for one cycle: a primitive gives no piece, as one with a NaN in a position; planes cut a primitive, which
        may be dropped later, if nothing remains of it; a piece is taken.
    idle : ``Out(1)``
        No primitive is being clipped, and all pieces have been taken.
    """

    def __init__(self, vertices: int) -> None:
        self._primitive = primitive_layout(vertices)
        self._loader, self._operands = VertexLoader(vertices), Operands()
        self._cutter, self._sender = Cutter(), PieceSender(vertices)
        self._guards = [Signal(WORD_BITS, name=f"guard_{axis}", reset_less=True) for axis in "xy"]
        self._asks = Signal(name="asks")
        self._any_outside, self._all_negative = Signal(_PLANES, name="outside"), Signal(_PLANES, name="negative")
        super().__init__(
            {
                "state": In(RASTER_STATE),
                "primitive": In(stream.Signature(self._primitive)),
                "positions": Out(PositionReader(vertices)),
                "request": Out(stream.Signature(REQUEST)),
                "result": In(RESULT),
                "piece": Out(stream.Signature(piece_layout(vertices))),
                "dropped": Out(1),
                "clipped": Out(1),
                "given": Out(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.operands, m.submodules.loader = self._operands, self._loader
        loader = self._loader
        m.submodules.cutter, m.submodules.sender = cutter, sender = self._cutter, self._sender
        primitive, remaining = record(self._primitive, reset_less=True), Signal(ALL_CLIPPING)
        pair = self._connect(m)
        cut = lowest_one(remaining)
        m.d.comb += [
            loader.corners.eq(primitive.corners),
            sender.primitive.eq(primitive),
            cutter.plane.eq(one_hot_index(cut)),
            cutter.buffer.eq(sender.buffer),
            cutter.count.eq(sender.count),
            self.given.eq(sender.last),
        ]
        with m.FSM(name="clip"):
            with m.State("IDLE"):
                m.d.comb += [self.primitive.ready.eq(1), self.idle.eq(1)]
                m.d.sync += primitive.eq(self.primitive.payload)
                with m.If(self.primitive.valid):
                    m.next = "LOAD"
            with m.State("LOAD"):
                m.d.comb += loader.start.eq(1)
                with m.If(loader.done):
                    m.next = "SCALE"
            self._test(m, pair)
            with m.State("JUDGE"):
                dropped, planes = self._judge(m)
                m.d.sync += [remaining.eq(planes), sender.clipped.eq(planes.any())]
                m.d.sync += [sender.buffer.eq(0), sender.count.eq(CORNERS)]
                m.d.comb += [self.dropped.eq(dropped), self.clipped.eq(~dropped & planes.any())]
                m.next = "CUT"
                with m.If(dropped):
                    m.next = "IDLE"
            with m.State("CUT"):
                m.d.comb += cutter.start.eq(remaining.any())
                with m.If(cutter.done):
                    m.d.sync += [remaining.eq(remaining & ~cut), sender.buffer.eq(~sender.buffer)]
                    m.d.sync += sender.count.eq(cutter.vertices)
                    with m.If(cutter.vertices < CORNERS):
                        m.d.comb += self.dropped.eq(1)
                        m.next = "IDLE"
                with m.Elif(~remaining.any()):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += sender.start.eq(1)
                with m.If(sender.done):
                    m.next = "IDLE"
        return m

    def _connect(self, m: Module) -> data.View:
        """The memory of polygons and its users; the pairs of the tests, to be driven."""
        loader, operands, cutter, sender = self._loader, self._operands, self._cutter, self._sender
        m.submodules.polygons = polygons = BlockRam(WORD_BITS, 1 << ADDRESS.size)
        reader, writer = polygons.read_port(), polygons.write_port()
        # At most one unit is active; the others give 0.
        read, write, pair = record(READ), record(WRITE), record(PAIR)
        m.d.comb += [
            read.eq(_any(operands.read, cutter.read, sender.read)),
            write.eq(_any(loader.write, cutter.write)),
            reader.addr.eq(read.address),
            reader.en.eq(read.valid),
            writer.addr.eq(write.address),
            writer.data.eq(write.word),
            writer.en.eq(write.valid),
            operands.pair.payload.eq(_any(pair, cutter.pair.payload)),
            operands.pair.valid.eq(cutter.pair.valid | self._asks),
            cutter.pair.ready.eq(operands.pair.ready),
            cutter.idle.eq(operands.idle),
            *(unit.word.eq(reader.data) for unit in (operands, cutter)),
            sender.word.eq(reader.data),
            *(unit.result.eq(self.result) for unit in (operands, cutter)),
            operands.t.eq(cutter.t),
            *(operands.guards[axis].eq(guard) for axis, guard in enumerate(self._guards)),
            loader.state.eq(self.state),
            operands.state.eq(self.state),
        ]
        connect(m, flipped(self.positions), loader.positions)
        connect(m, flipped(self.request), operands.request)
        connect(m, flipped(self.piece), sender.piece)
        return pair

    def _test(self, m: Module, pair: data.View) -> None:
        """The distances of the three vertices from all planes; before them, the guard band's factors of x and y."""
        vertex, plane, result, operands = Signal(2), Signal(range(_PLANES)), self.result, self._operands
        is_last = plane == _PLANES - 1
        with m.State("SCALE"):
            m.d.comb += [self._asks.eq(1), pair.form.eq(Mux(plane[0], Form.GUARD_Y, Form.GUARD_X)), pair.tag.eq(plane)]
            with m.If(operands.pair.ready):
                m.d.sync += plane.eq(plane + 1)
                with m.If(plane[0]):
                    m.next = "SCALED"
        with m.State("SCALED"):
            for axis, guard in enumerate(self._guards):
                with m.If(result.valid & (result.tag == axis)):
                    m.d.sync += guard.eq(result.word)
            m.d.sync += [plane.eq(0), self._any_outside.eq(0), self._all_negative.eq((1 << _PLANES) - 1)]
            with m.If(operands.idle):
                m.next = "TEST"
        with m.State("TEST"):
            m.d.comb += [
                self._asks.eq(1),
                pair.form.eq(Form.PLANE),
                Value.cast(pair.plane).eq(plane),
                pair.p.eq(address(0, vertex, _W)),
                pair.q.eq(address(0, vertex, axis_of(m, plane))),
                pair.keeps_p.eq(plane != 0),
                pair.tag.eq(plane),
            ]
            self._note(m)
            with m.If(operands.pair.ready):
                m.d.sync += [plane.eq(Mux(is_last, 0, plane + 1)), vertex.eq(vertex + is_last)]
                with m.If(is_last & (vertex == CORNERS - 1)):
                    m.d.sync += vertex.eq(0)
                    m.next = "TESTED"
        with m.State("TESTED"):
            self._note(m)
            with m.If(operands.idle):
                m.next = "JUDGE"

    def _note(self, m: Module) -> None:
        """On which side of the plane with the number of its tag a result is."""
        result = self.result
        with m.If(result.valid):
            with m.If(is_outside(result.word)):
                m.d.sync += self._any_outside.bit_select(result.tag[:4], 1).eq(1)
            with m.If(~is_negative(result.word)):
                m.d.sync += self._all_negative.bit_select(result.tag[:4], 1).eq(0)

    def _judge(self, m: Module) -> tuple[Value, Value]:
        """Whether the primitive is dropped, and the planes that cut it."""
        state, loader = self.state, self._loader
        used = Signal(_PLANES)
        m.d.comb += used.eq((1 << _PLANES) - 1)
        m.d.comb += [used[Plane.NEAR.value].eq(~state.raster.no_near), used[Plane.FAR.value].eq(~state.raster.no_far)]
        view = sum(1 << plane.value for plane in (Plane.NEAR, Plane.FAR, *SIDES))
        # A point is dropped if its vertex is outside of one plane, a triangle if all three are negative there.
        outside = Mux(state.points, self._any_outside, self._all_negative) & used & view
        culled = (loader.negative & state.cull_distances).any() & ~state.points
        planes = Cat((self._any_outside & used)[:CLIPPING], loader.outside & state.clip_distances)
        return loader.nan | outside.any() | culled, Mux(state.points, 0, planes)


def _any(*views: data.View) -> Value:
    """The bitwise OR of views of which at most one is not 0."""
    first, *others = (Value.cast(view) for view in views)
    return reduce(or_, others, first)
