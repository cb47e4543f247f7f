"""Set-up: from a piece in clip space to a shape in window coordinates and its record.

Source: docs/draws.md; docs/design/draws.md has the cycles.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.draws import AXES, CORNERS, RASTER_STATE, record_write_layout
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.statement import Assign
from ctm.rtl.pa.arithmetic import INTEGER_BITS, REQUEST, RESULT, Operation, requested
from ctm.rtl.pa.bounds import Bounds
from ctm.rtl.pa.coordinates import Coordinates
from ctm.rtl.pa.piece import piece_layout
from ctm.rtl.pa.registers import AREA, DEPTH, ROW_WORD, SPARE, W
from ctm.rtl.pa.results import ResultRouter
from ctm.rtl.pa.rows import RecordRows
from ctm.rtl.pa.shape import walk_layout
from ctm.rtl.pa.taker import PieceTaker
from ctm.rtl.pa.transformation import MINUS_ZERO, Transformation

_HALF_BITS = 21


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
        self._column_bits = (lanes // 2).bit_length() - 1
        self._coordinates, self._rows, self._bounds = Coordinates(), RecordRows(records), Bounds()
        self._taker, self._transformation, self._results = PieceTaker(vertices), Transformation(), ResultRouter()
        self._step = Signal(4, name="step")
        self._finite, self._turned, self._has_area = (Signal(name=name) for name in ("finite", "turned", "has_area"))
        self._divided, self._number = Signal(name="divided"), Signal(range(AXES + 1), name="number")
        self._front = Signal(name="front")
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
        m.submodules.results = self._results
        connect(m, flipped(self.piece), self._taker.piece)
        has_record = Signal()
        self._receive(m)
        self._halve(m)
        m.d.comb += [self.free.ready.eq(~has_record), self.write.eq(self._rows.write)]
        with m.If(self.free.ready):
            m.d.sync += [has_record.eq(self.free.valid), self._rows.record.eq(self.free.payload)]
        with m.If(self.walk.ready):
            m.d.sync += self.walk.valid.eq(0)
        with m.FSM(name="set_up"):
            with m.State("TAKE"):
                self._take(m, has_record)
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
                self._edges(m, has_record)
            with m.State("POINT"):
                self._point(m, has_record)
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
        ]
        with m.If(results.fill.valid):
            m.d.comb += self._fill(results.fill.index, results.fill.word)
        with m.If(results.has_area):
            m.d.sync += self._has_area.eq(1)
        is_vertex = snapped.valid & (snapped.at.vertex != SPARE)
        with m.If(is_vertex & ~results.finite):
            m.d.sync += self._finite.eq(0)
        counts = is_vertex & ~self.state.points
        m.d.comb += [
            bounds.domain.eq(self.state.domain),
            bounds.axis.eq(snapped.at.axis),
            bounds.value.eq(Mux(self.state.points, coordinates.left, snapped.value)),
            bounds.begins.eq(counts & (snapped.at.vertex == 0)),
            bounds.goes_on.eq(counts & (snapped.at.vertex != 0)),
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
        total = self._coordinates.total
        magnitude = Mux(total[-1], -total, total)[:INTEGER_BITS]
        sign = Cat(Const(0, WORD_BITS - 1), total[-1] & self.state.points)
        return requested(
            self.request, Operation.CONVERT, tag, a=magnitude[:WORD_BITS], b=magnitude[WORD_BITS:], c=sign
        )  # fmt: skip

    def _take(self, m: Module, has_record: Value) -> None:
        """Take the words of a piece, and ask for the reciprocals of w as soon as these are there."""
        taker, asked, ends = self._taker, Signal(range(CORNERS + 1)), Signal()
        m.d.comb += [
            # A register and a row have one writer.
            taker.enable.eq(has_record & ~self.result.valid),
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
        """The area: (X0 - X2)(Y1 - Y0) - (X1 - X0)(Y0 - Y2)."""
        step, selection, factors = self._step, self._coordinates.selection, self._coordinates.factors
        m.d.comb += [
            selection.minuend.axis.eq(step[0]),
            selection.subtrahend.axis.eq(step[0]),
            selection.minuend.vertex.eq((step == 1) | (step == 2)),
            selection.subtrahend.vertex.eq(Mux((step == 1) | (step == 2), 0, 2)),
            factors.left.eq((step == 0) | (step == 2)),
            factors.right.eq((step == 1) | (step == 3)),
            factors.first.eq(step == 1),
            factors.subtracts.eq(step == 3),
        ]
        with m.If(step == 0):
            m.d.comb += self._multiply_add(DEPTH, ONE, MINUS_ZERO, ROW_WORD)
        with m.If(step != 6):
            m.d.sync += step.eq(step + 1)
        with m.Elif(self._results.pending == 0):
            m.next = "JUDGE"

    def _judge(self, m: Module) -> None:
        """Drop the shape, or begin what the walker gets of it."""
        state, raster, total = self.state, self.state.raster, self._coordinates.total
        front = Mux(state.points, 1, total[-1] ^ raster.front_clockwise)
        culled = Mux(front, raster.cull_front, raster.cull_back)
        is_nothing = Mux(state.points, self._coordinates.half == 0, ~total.any() | culled)
        payload = self.walk.payload
        m.d.sync += [
            self._turned.eq(total[-1]),
            self._front.eq(front),
            self._step.eq(0),
            self._number.eq(0),
            self._divided.eq(0),
            self._has_area.eq(0),
            payload.edges.eq(0),
            payload.strict.eq(0),
            payload.constants.record.eq(self._rows.record),
            payload.constants.corners.eq(self._taker.primitive.corners),
            payload.constants.provoking.eq(self._taker.primitive.provoking),
        ]
        m.next = "FACE"
        with m.If(is_nothing | ~self._finite):
            m.d.comb += [self.dropped.eq(1), self._rows.clear.eq(1)]
            m.next = "TAKE"

    def _bound(self, m: Module, axis: Value) -> None:
        """Give the walker the pixels of an axis, the columns first, and where its first strip begins."""
        payload, bounds = self.walk.payload, self._bounds
        offset = (bounds.first - Cat(Const(0, 1), self.state.domain.i0[1:]))[: self._column_bits]
        m.d.comb += bounds.axis.eq(axis)
        m.d.sync += [payload.first[axis].eq(bounds.first), payload.last[axis].eq(bounds.last)]
        with m.If(axis):
            m.d.sync += [payload.row.eq(bounds.first[1:] << 1), payload.empty.eq(payload.empty | bounds.empty)]
        with m.Else():
            m.d.sync += [payload.column.eq(bounds.first - offset), payload.empty.eq(bounds.empty)]

    def _halve(self, m: Module) -> None:
        """Half a side of a point in 1/256 pixel: at most 2^21, and 0 instead of a negative one."""
        half, kept = self._coordinates.half, self._coordinates.kept
        m.d.comb += [self._coordinates.selection.subtrahend.vertex.eq(SPARE), half.eq(kept)]
        with m.If(~self.state.raster.program_point_size):
            m.d.comb += half.eq(self.state.radius << 4)
        with m.Elif(kept[-1]):
            m.d.comb += half.eq(0)
        with m.Elif(kept[_HALF_BITS:].any()):
            m.d.comb += half.eq(1 << _HALF_BITS)

    def _tell(self, m: Module) -> None:
        """Write row 2: face, number, and whether the triangle was clipped. Ask for the area as a float."""
        step, rows, face = self._step, self._rows, Mux(self._front, ONE, ONE | MINUS_ZERO)
        with m.Switch(step):
            for index, word in enumerate((face, self._taker.primitive.number, Mux(self._taker.clipped, ONE, 0))):
                with m.Case(index):
                    m.d.comb += self._fill(index + 1, word)
            with m.Case(3):
                m.d.comb += [rows.row.valid.eq(1), rows.row.payload.eq(2)]
        with m.If(step < 2):
            self._bound(m, step[0])
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

    def _edges(self, m: Module, has_record: Signal) -> None:
        """Four steps for each edge: dx, row - Y, dy, column - X. Row 0: the passed 1 / w, and 1 / area."""
        step, edges, coordinates = self._step, self.walk.payload.edges, self._coordinates
        selection, factors, edge, phase = coordinates.selection, coordinates.factors, step[2:], step[:2]
        first, second = (Mux(edge == 2, 0, edge + 1), Mux(edge == 0, 2, edge - 1))
        strict, dx_negative = Signal(), Signal()
        m.d.comb += [
            selection.minuend.axis.eq(phase[1]),
            selection.subtrahend.axis.eq(phase[0] ^ phase[1]),
            selection.minuend.vertex.eq(Mux(self._turned, first, second)),
            selection.subtrahend.vertex.eq(Mux(~phase[0] & self._turned, second, first)),
            selection.pixel.eq(phase[0]),
            coordinates.position.eq(Mux(phase[1], self.walk.payload.column, self.walk.payload.row)),
            factors.left.eq(~phase[0]),
            factors.right.eq(phase[0]),
            factors.first.eq(~phase[1]),
            factors.subtracts.eq(phase[1]),
            dx_negative.eq(edges[edge].dx[-1]),
            strict.eq(~(coordinates.left[-1] | (~coordinates.left.any() & ~dx_negative))),
            coordinates.bias.eq(strict),
        ]
        with m.If(step != 15):
            m.d.sync += step.eq(step + 1)
        with m.If(edge != CORNERS):
            with m.Switch(phase):
                with m.Case(0):
                    m.d.sync += edges[edge].dx.eq(coordinates.sum)
                with m.Case(2):
                    m.d.sync += edges[edge].dy.eq(coordinates.sum)
                with m.Case(3):
                    m.d.sync += self.walk.payload.strict.bit_select(edge, 1).eq(strict)
        # Both products of an edge are there in the third step of the next one.
        with m.If((edge != 0) & (phase == 2)):
            m.d.sync += edges[(edge - 1)[:2]].value.eq(coordinates.total)
        with m.If(self._has_area):
            m.d.comb += self._reciprocal(AREA, ROW_WORD)
            with m.If(self.request.ready):
                m.d.sync += [self._has_area.eq(0), self._divided.eq(1)]
        with m.Elif(self._number != CORNERS):
            register = Cat(Const(W, 2), self._number[:2])
            m.d.comb += self._multiply_add(
                register, ONE, MINUS_ZERO, Cat((self._number + 1)[:2], Const(ROW_WORD >> 2, 3))
            )
            m.d.sync += self._number.eq(self._number + 1)
        self._give(m, (step == 15) & self._divided & (self._number == CORNERS), has_record)

    def _point(self, m: Module, has_record: Signal) -> None:
        """Row 0 and the bounds: the left and the lower end, the right and the upper one, and 1 / side."""
        step, number, coordinates = self._step, self._number, self._coordinates
        selection, factors, is_side = coordinates.selection, coordinates.factors, number == 2
        m.d.comb += [
            selection.minuend.axis.eq(number[0]),
            selection.nothing.eq(is_side),
            selection.half.eq(1),
            selection.adds.eq(is_side | (step != 0)),
            # The upper end follows the lower one, when that has been multiplied.
            factors.left.eq((step == 0) | (step == 2)),
            factors.right.eq(step == 1),
            factors.constant.eq(Mux(is_side, 2, 1)),
            factors.first.eq(1),
        ]
        m.d.comb += [
            self._bounds.axis.eq(number[0]),
            self._bounds.lower.eq((step == 1) & ~number[1]),
            self._bounds.upper.eq((step == 3) & ~number[1]),
        ]
        with m.If(number == 3):
            with m.If(step < 2):
                self._bound(m, step[0])
                m.d.sync += step.eq(step + 1)
            with m.If(self._has_area):
                m.d.comb += self._reciprocal(AREA, ROW_WORD | 2)
                with m.If(self.request.ready):
                    m.d.sync += [self._has_area.eq(0), self._divided.eq(1)]
        with m.Elif(step != 4):
            m.d.sync += step.eq(step + 1)
        with m.Else():
            m.d.comb += self._convert(Mux(is_side, AREA, Cat(number[0], Const(ROW_WORD >> 1, 4))))
            with m.If(self.request.ready):
                m.d.sync += [number.eq(number + 1), step.eq(0)]
        self._give(m, self._divided, has_record)

    def _give(self, m: Module, ready: Value, has_record: Signal) -> None:
        """Write row 0 when its words are there, and give the shape."""
        with m.If(ready & (self._results.pending == 0)):
            m.d.comb += [self._rows.row.valid.eq(1), self._rows.row.payload.eq(0)]
            m.d.sync += [self.walk.valid.eq(1), has_record.eq(0)]
            m.next = "TAKE"
