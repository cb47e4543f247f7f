"""Set-up: from a piece in clip space to a shape in window coordinates and its record.

Source: docs/draws.md; docs/design/draws.md has the cycles.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.draws import AXES, CORNERS, RASTER_STATE, record_write_layout, shape_layout
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.statement import Assign
from ctm.rtl.pa.arithmetic import INTEGER_BITS, REQUEST, RESULT, Operation, requested
from ctm.rtl.pa.bounds import Bounds
from ctm.rtl.pa.coordinates import Coordinates
from ctm.rtl.pa.piece import piece_layout
from ctm.rtl.pa.point_sums import PointSums
from ctm.rtl.pa.registers import AREA, DEPTH, ROW_WORD, W
from ctm.rtl.pa.results import ResultRouter
from ctm.rtl.pa.rows import RecordRows
from ctm.rtl.pa.shape import walk_layout
from ctm.rtl.pa.taker import PieceTaker
from ctm.rtl.pa.transformation import MINUS_ZERO, Transformation
from ctm.rtl.pa.triangle_sums import TriangleSums


class SetUp(wiring.Component):
    """Makes shapes of pieces, one after the other, in their order.

    A triangle takes some 190 cycles from its first word to its shape, a point some 205. The next piece is taken while
    the shape waits. Pieces that are culled, have no area or are not finite give nothing; their record is kept for the
    next one. The seven rows of a record are written before its shape is given.

    Members
    -------
    state : ``In(RASTER_STATE)``
        Constant while not idle.
    piece : ``In(stream.Signature(piece_layout(vertices)))``
        `PIECE_WORDS` words of each piece.
    free : ``In(stream.Signature(range(records)))``
    write : ``Out({valid, payload})``
        Both as in `RecordClient`.
    walk : ``Out(stream.Signature(walk_layout(vertices, records)))``
    request : ``Out(stream.Signature(REQUEST))``
        Of operations; a multiply-add is taken in the same cycle.
    result : ``In(RESULT)``
    dropped : ``Out(1)``
        A piece gives no shape, in one cycle.
    idle : ``Out(1)``
        No piece is begun, and no shape waits.
    """

    def __init__(self, lanes: int, vertices: int, records: int) -> None:
        self._coordinates, self._rows, self._bounds = Coordinates(), RecordRows(records), Bounds(lanes)
        self._triangle, self._point = TriangleSums(), PointSums()
        self._taker, self._transformation, self._results = PieceTaker(vertices), Transformation(), ResultRouter()
        self._step = Signal(range(5), name="step")
        self._finite, self._turned, self._has_area = (Signal(name=name) for name in ("finite", "turned", "has_area"))
        self._divided, self._number = Signal(name="divided"), Signal(range(AXES + 1), name="number")
        self._front = Signal(name="front")
        self._constants = Signal(shape_layout(vertices, records), name="constants")
        write = data.StructLayout({"valid": 1, "payload": record_write_layout(records)})
        super().__init__(
            {
                "state": In(RASTER_STATE),
                "piece": In(stream.Signature(piece_layout(vertices))),
                "free": In(stream.Signature(range(records))),
                "write": Out(write),
                "walk": Out(stream.Signature(walk_layout(vertices, records))),
                "request": Out(stream.Signature(REQUEST)),
                "result": In(RESULT),
                "dropped": Out(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.coordinates, m.submodules.rows, m.submodules.bounds = self._coordinates, self._rows, self._bounds
        m.submodules.taker, m.submodules.transformation = self._taker, self._transformation
        m.submodules.results, m.submodules.triangle, m.submodules.point = self._results, self._triangle, self._point
        connect(m, flipped(self.piece), self._taker.piece)
        self._receive(m)
        self._sum(m)
        connect(m, flipped(self.free), self._rows.free)
        m.d.comb += self.write.eq(self._rows.write)
        with m.If(self.walk.ready):
            m.d.sync += self.walk.valid.eq(0)
        with m.FSM(name="set_up"):
            with m.State("TAKE"):
                self._take(m)
            with m.State("TRANSFORM"):
                self._transform(m)
            with m.State("DRAIN"), m.If((self._results.pending == 0) & ~self._results.snaps):
                m.d.comb += [self._rows.row.valid.eq(1), self._rows.row.payload.eq(1)]
                m.next = "AREA"
                with m.If(self.state.points):
                    m.next = "JUDGE"
            with m.State("AREA"):
                self._measure(m)
            with m.State("JUDGE"), m.If(~self.walk.valid):
                self._judge(m)
            with m.State("FACE"):
                self._tell(m)
            with m.State("EDGES"):
                self._edges(m)
            with m.State("POINT"):
                self._ends(m)
        return m

    def _receive(self, m: Module) -> None:
        """Take the words of pieces, and results, to the units that keep them."""
        results, request, coordinates, bounds = self._results, self.request, self._coordinates, self._bounds
        read, other = results.reads
        snapped = results.snapped
        m.d.comb += [
            results.taken.eq(request.valid & request.ready),
            results.result.eq(self.result),
            results.write.eq(self._taker.register_write),
            request.payload.a.eq(read.word),
            self._transformation.state.eq(self.state),
            self._transformation.word.eq(other.word),
            self._rows.fill.eq(self._taker.fill),
            self._rows.row.eq(self._taker.row),
            coordinates.snapped.eq(snapped),
            bounds.bound.eq(Mux(self.state.points, 0, results.bound)),
        ]
        with m.If(results.fill.valid):
            m.d.comb += self._fill(results.fill.index, results.fill.word)
        with m.If(results.has_area):
            m.d.sync += self._has_area.eq(1)
        is_vertex = results.bound.begins | results.bound.goes_on
        with m.If(is_vertex & ~results.finite):
            m.d.sync += self._finite.eq(0)

    def _sum(self, m: Module) -> None:
        """Connect the sums of triangles, to which `Coordinates` listens if there is no point."""
        coordinates, triangle, point, pixels = self._coordinates, self._triangle, self._point, self._bounds.pixels
        connect(m, coordinates.sums, triangle.sums)
        m.d.comb += [
            coordinates.radius.given.eq(~self.state.raster.program_point_size),
            coordinates.radius.value.eq(self.state.radius),
            coordinates.control.eq(Mux(self.state.points, point.control, triangle.control)),
            triangle.turned.eq(self._turned),
            triangle.column.eq(pixels.column),
            triangle.row.eq(pixels.row),
            self._bounds.domain.eq(self.state.domain),
            self._bounds.value.eq(Mux(self.state.points, coordinates.sums.left, self._results.snapped.value)),
            self.walk.payload.constants.eq(self._constants),
            self.walk.payload.pixels.eq(pixels),
            self.walk.payload.edges.eq(triangle.values),
            self.walk.payload.strict.eq(triangle.strict),
        ]

    def _fill(self, index: ValueLike, word: ValueLike) -> list[Assign]:
        """Give a word of a row."""
        fill = self._rows.fill
        return [fill.valid.eq(1), fill.index.eq(index), fill.word.eq(word)]

    def _multiply_add(self, register: ValueLike, b: ValueLike, c: ValueLike, tag: ValueLike) -> list[Assign]:
        """Ask for the register's word * b + c."""
        return [
            self._results.reads[0].register.eq(register),
            *requested(self.request, Operation.MULTIPLY_ADD, tag, b=b, c=c),
        ]

    def _reciprocal(self, register: ValueLike, tag: ValueLike) -> list[Assign]:
        """Ask for that of the register's word."""
        return [self._results.reads[0].register.eq(register), *requested(self.request, Operation.RECIPROCAL, tag)]

    def _convert(self, tag: ValueLike) -> list[Assign]:
        """Ask for the total as a float; an area's magnitude."""
        total = self._coordinates.sums.total
        magnitude = Mux(total[-1], -total, total)[:INTEGER_BITS]
        sign = Cat(Const(0, WORD_BITS - 1), total[-1] & self.state.points)
        return requested(
            self.request, Operation.CONVERT, tag, a=magnitude[:WORD_BITS], b=magnitude[WORD_BITS:], c=sign
        )  # fmt: skip

    def _take(self, m: Module) -> None:
        """Take the words of a piece, and ask for the reciprocals of w as soon as these are there."""
        taker, asked, ends = self._taker, Signal(range(CORNERS + 1)), Signal()
        m.d.comb += [
            # A register and a row have one writer.
            taker.enable.eq(self._rows.has_record & ~self.result.valid),
            ends.eq(taker.complete & (asked == CORNERS) & (self._results.pending == 0)),
            taker.end.eq(ends),
            self.idle.eq(~taker.begun & ~self.walk.valid),
        ]
        m.d.sync += self._finite.eq(1)
        with m.If(asked < taker.inverses):
            register = Cat(Const(W, 2), asked[:2])
            m.d.comb += self._reciprocal(register, register)
            m.d.sync += asked.eq(asked + self.request.ready)
        with m.If(ends):
            m.d.sync += asked.eq(0)
            m.next = "TRANSFORM"

    def _transform(self, m: Module) -> None:
        """Let the transformation have its operations."""
        transformation = self._transformation
        operation = transformation.operation
        m.d.comb += [
            transformation.enable.eq(1),
            self._results.reads[1].register.eq(transformation.other),
            self._multiply_add(operation.register, operation.b, operation.c, operation.tag),
            self.request.valid.eq(operation.valid),
        ]
        m.d.sync += self._step.eq(0)
        with m.If(transformation.done):
            m.next = "DRAIN"

    def _measure(self, m: Module) -> None:
        """Let the area be computed, and give z2 - z0 to row 0."""
        m.d.comb += self._triangle.area.eq(1)
        with m.If(self._step == 0):
            m.d.comb += self._multiply_add(DEPTH, ONE, MINUS_ZERO, ROW_WORD)
        m.d.sync += self._step.eq(1)
        with m.If(self._triangle.done & (self._results.pending == 0)):
            m.next = "JUDGE"

    def _judge(self, m: Module) -> None:
        """Drop the shape, or begin what the walker gets of it."""
        state, raster, total = self.state, self.state.raster, self._coordinates.sums.total
        front = Mux(state.points, 1, total[-1] ^ raster.front_clockwise)
        culled = Mux(front, raster.cull_front, raster.cull_back)
        is_nothing = Mux(state.points, self._coordinates.half == 0, ~total.any() | culled)
        m.d.comb += self._triangle.clear.eq(1)
        m.d.sync += [
            self._turned.eq(total[-1]),
            self._front.eq(front),
            self._step.eq(0),
            self._number.eq(0),
            self._divided.eq(0),
            self._has_area.eq(0),
            self._constants.record.eq(self._rows.record),
            self._constants.corners.eq(self._taker.primitive.corners),
            self._constants.provoking.eq(self._taker.primitive.provoking),
        ]
        m.next = "FACE"
        with m.If(is_nothing | ~self._finite):
            m.d.comb += [self.dropped.eq(1), self._rows.clear.eq(1)]
            m.next = "TAKE"

    def _tell(self, m: Module) -> None:
        """Write row 2: face, number, and whether the triangle was clipped. Ask for the area as a float."""
        step, rows, face = self._step, self._rows, Mux(self._front, ONE, ONE | MINUS_ZERO)
        words = Array((face, self._taker.primitive.number, Mux(self._taker.clipped, ONE, 0)))
        with m.If(step < 3):
            m.d.comb += self._fill(step + 1, words[step])
        with m.If(step == 3):
            m.d.comb += [rows.row.valid.eq(1), rows.row.payload.eq(2)]
        with m.If(step < 2):
            m.d.comb += [self._bounds.bound.axis.eq(step[0]), self._bounds.bound.gives.eq(1)]
        with m.If(step != 4):
            m.d.sync += step.eq(step + 1)
        converted = self._divided | self.state.points
        with m.If(~converted):
            m.d.comb += self._convert(AREA)
            m.d.sync += self._divided.eq(self.request.ready)
        with m.Elif(step == 4):
            m.d.sync += [step.eq(0), self._divided.eq(0)]
            m.next = "EDGES"
            with m.If(self.state.points):
                m.next = "POINT"

    def _edges(self, m: Module) -> None:
        """Let the edges be computed. Row 0: the passed 1 / w, and 1 / area."""
        m.d.comb += self._triangle.edges.eq(1)
        self._divide(m, ROW_WORD)
        with m.If(~self._has_area & (self._number != CORNERS)):
            register = Cat(Const(W, 2), self._number[:2])
            m.d.comb += self._multiply_add(
                register, ONE, MINUS_ZERO, Cat((self._number + 1)[:2], Const(ROW_WORD >> 2, 3))
            )
            m.d.sync += self._number.eq(self._number + 1)
        self._give(m, self._triangle.done & self._divided & (self._number == CORNERS))

    def _ends(self, m: Module) -> None:
        """Let the ends of a point be computed. Row 0: the left and the lower one, and 1 / side."""
        point = self._point
        m.d.comb += [
            point.enable.eq(1),
            point.converts.eq(point.conversion.valid & self.request.ready),
            self._bounds.bound.eq(point.bound),
        ]
        with m.If(point.conversion.valid):
            m.d.comb += self._convert(point.conversion.tag)
        self._divide(m, ROW_WORD | 2)
        self._give(m, self._divided)

    def _divide(self, m: Module, tag: int) -> None:
        """Ask for the reciprocal of an area or a side, when that is there."""
        with m.If(self._has_area):
            m.d.comb += self._reciprocal(AREA, tag)
        with m.If(self._has_area & self.request.ready):
            m.d.sync += [self._has_area.eq(0), self._divided.eq(1)]

    def _give(self, m: Module, ready: Value) -> None:
        """Write row 0 when its words are there, and give the shape."""
        with m.If(ready & (self._results.pending == 0)):
            m.d.comb += [self._rows.row.valid.eq(1), self._rows.row.payload.eq(0), self._rows.end.eq(1)]
            m.d.sync += self.walk.valid.eq(1)
            m.next = "TAKE"
