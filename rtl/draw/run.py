"""Runs a draw: batch after batch, first its vertices and then its pixels.

Source: docs/design/draws.md.
"""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import MOST_CORNERS, Batch, EmitGrouping, Grouping
from ctm.rtl.border.drawing import DrawClient
from ctm.rtl.border.draws import CORNERS, primitive_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import ArrayReport, wavefront_layout
from ctm.rtl.border.shading import GEOMETRY_PROGRAM, START_WORDS, Stage, start_write_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.draw.rings import RingFit
from ctm.rtl.isa.draws import Ring
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.statement import Assign

_NUMBER_WORD = 2
"""The word in which a geometry program finds the primitive's number; the others are its vertices', in order."""
_SETTLES = 4
"""Cycles in which the array may look idle after it was given a wavefront."""


class RasterClient(Interface):
    """The primitives that are drawn, seen from the unit that gives them.

    Members
    -------
    primitive : ``Out(stream.Signature(primitive_layout(vertices)))``
    idle : ``In(1)``
        No primitive and no strip is in flight.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__({"primitive": Out(stream.Signature(primitive_layout(vertices))), "idle": In(1)})


class DrawRun(wiring.Component):
    """Runs the phases of a draw. Programs of one phase all end before the next phase begins.

    A fault of vertices, of the geometry program or of the copy program ends the draw in front of the batch's pixels; a
    fault of pixels does not end the draw, and the first one is reported. With a geometry program a batch of
    primitives is a number of runs of it, each for as many threads as the rings hold; what a run emits is batches of its
    own, of vertices for the copy program and of primitives that are drawn.

    Members
    -------
    draw : ``In(DrawClient(program_format))``
    grouper : ``Out(Grouping())``
    batch : ``In(Batch(vertices))``
    raster : ``Out(RasterClient(vertices))``
    vertices : ``Out(stream.Signature(wavefront_layout(lanes)))``
        Wavefronts of threads: i is the vertex store's entry of the first vertex, or the first thread's number.
    stage : ``Out(Stage)``
    instance : ``Out(32)``
    done : ``Out(1)``
        The draw ends, and all of its vertices were shaded.
    array : ``In(ArrayReport(program_format))``
        `idle` may still be high for some cycles after the array was given a wavefront.
    corners : ``In(range(7))``
        Those of a primitive that is assembled.
    program : ``In(GEOMETRY_PROGRAM)``
        With geometry programs, as all that follow.
    rings : ``In(RingFit(vertices))``
        A run has as many threads as items fit into the ring `GS_VS`.
    thread : ``Out(start_write_layout(vertices))``
    emits : ``Out(EmitGrouping(vertices))``
    emitted : ``In(Batch(vertices))``
    """

    def __init__(self, config: MachineConfig, program_format: ProgramFormat) -> None:
        self._lanes, self._vertices = config.array.wavefront_lanes, config.pipeline.vertices
        self._geometry = config.pipeline.has_geometry
        vertices = self._vertices
        geometry = {
            "corners": In(range(MOST_CORNERS + 1)),
            "program": In(GEOMETRY_PROGRAM),
            "rings": In(RingFit(vertices)),
            "thread": Out(start_write_layout(vertices)),
            "emits": Out(EmitGrouping(vertices)),
            "emitted": In(Batch(vertices)),
        }
        super().__init__(
            {
                "draw": In(DrawClient(program_format)),
                "grouper": Out(Grouping()),
                "batch": In(Batch(self._vertices, MOST_CORNERS if self._geometry else CORNERS)),
                "raster": Out(RasterClient(vertices)),
                "vertices": Out(stream.Signature(wavefront_layout(self._lanes))),
                "stage": Out(Stage),
                "instance": Out(WORD_BITS),
                "done": Out(1),
                "array": In(ArrayReport(program_format)),
                **(geometry if self._geometry else {}),
            }
        )
        self._stopped = Signal()
        """A fault has ended the draw before its pixels."""

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        draw, batch = self.draw, self.batch
        first, runs = Signal(range(self._vertices + self._lanes)), Signal()
        ready = self.rings.ready if self._geometry else Const(1)
        settled, stopped = self._settle(m), self._stopped
        m.d.comb += [
            Value.cast(self.stage).eq(Mux(draw.launching, Stage.VERTICES.value, Stage.DOMAIN.value)),
            draw.ended.eq(~runs),
        ]
        self._record_fault(m, runs)
        with m.If(draw.start):
            m.d.sync += runs.eq(1)
        with m.FSM():
            with m.State("idle"):
                m.d.sync += [self.instance.eq(0), stopped.eq(0)]
                if self._geometry:
                    m.d.sync += self.emits.threads.eq(0)
                with m.If(runs):
                    m.next = "instance"
                    with m.If(~draw.state.count.any() | ~draw.state.instances.any()):
                        m.next = "end"
            with m.State("instance"):
                m.d.comb += [self._at(Stage.VERTICES), self.grouper.begin.eq(self.grouper.idle & ready)]
                with m.If(self.grouper.begin):
                    m.next = "batch"
            with m.State("batch"):
                m.d.comb += self._at(Stage.VERTICES)
                m.d.sync += first.eq(0)
                with m.If(batch.closed):
                    m.next = "vertices"
                    with m.If(batch.error):
                        m.d.sync += stopped.eq(1)
                        m.next = "end"
            self._shade(m, first, settled)
            if self._geometry:
                self._run_geometry(m, first, settled)
            with m.State("batch's end"):
                m.d.comb += [self._at(Stage.VERTICES), batch.done.eq(1)]
                m.next = "batch"
                with m.If(batch.ends):
                    m.d.sync += self.instance.eq(self.instance + 1)
                    m.next = "instance"
                    with m.If(self.instance == draw.state.instances - 1):
                        m.next = "end"
            with m.State("end"):
                m.d.comb += [self.grouper.drop.eq(1), self.done.eq(~stopped)]
                with m.If(self.grouper.idle & settled):
                    m.d.sync += runs.eq(0)
                    m.next = "idle"
        return m

    def _shade(self, m: Module, first: Signal, settled: Value) -> None:
        """Run the two phases of a batch."""
        batch, emitted = self.batch, self.emitted if self._geometry else None
        has_geometry = self.program.present if self._geometry else Const(0)
        self._run(m, "vertices", Stage.VERTICES, first, batch.used, settled)
        with m.State("vertices' end"):
            m.next = "pixels"
            m.d.comb += self._at(Stage.VERTICES)
            with m.If(has_geometry):
                m.next = "threads"
        with m.State("pixels"):
            m.d.comb += self._at(Stage.PIXELS)
            valid = Value.cast(batch.primitive.valid)
            if emitted is None:
                self._give(m, batch)
            else:
                valid = Mux(has_geometry, emitted.primitive.valid, valid)
                with m.If(has_geometry):
                    self._give(m, emitted)
                with m.Else():
                    self._give(m, batch)
            with m.If(~valid & self.raster.idle & settled):
                m.next = "batch's end"
                with m.If(has_geometry):
                    m.next = "emitted batch's end"

    def _run(self, m: Module, name: str, stage: Stage, first: Signal, threads: Value, settled: Value) -> None:
        """Run a program for some threads, and go on with the state "(name)' end" when all have ended."""
        vertices = self.vertices
        payload = vertices.payload
        with m.State(name):
            m.d.comb += self._at(stage)
            with m.If(first >= threads):
                m.next = f"{name} settle"
            with m.Else():
                m.d.comb += [
                    vertices.valid.eq(1),
                    payload.i.eq(first),
                    *(payload.covered[lane].eq(first + lane < threads) for lane in range(self._lanes)),
                ]
                with m.If(vertices.ready):
                    m.d.sync += first.eq(first + self._lanes)
        with m.State(f"{name} settle"):
            m.d.comb += self._at(stage)
            m.d.sync += first.eq(0)
            with m.If(settled):
                m.next = f"{name}' end"
                with m.If(self._stopped):
                    m.next = "end"

    def _run_geometry(self, m: Module, first: Signal, settled: Value) -> None:
        """Run the geometry program for the batch's primitives, and then what it emits, run by run."""
        batch, emitted, threads, program = self.batch, self.emitted, self.emits.threads, self.program
        given, word = batch.primitive, Signal(range(START_WORDS))
        number = _NUMBER_WORD
        corner = Mux(word > number, word - 1, word)[: (MOST_CORNERS - 1).bit_length()]
        entry = Value.cast(given.payload.corners).word_select(corner, len(given.payload.provoking))
        offset = Mux(corner < self.corners, entry * program.vertex_item, 0)
        m.d.comb += [
            self.thread.thread.eq(threads),
            self.thread.word.eq(word),
            self.thread.value.eq(Mux(word == number, given.payload.number, offset)),
        ]
        with m.State("threads"):
            m.d.comb += [self._at(Stage.GEOMETRY), self.emits.clear.eq(1)]
            with m.If(given.valid & (threads != self.rings.most[Ring.GS_VS.value])):
                m.d.comb += self.thread.valid.eq(1)
                m.d.sync += word.eq(word + 1)
                with m.If(word == START_WORDS - 1):
                    m.d.comb += given.ready.eq(1)
                    m.d.sync += [word.eq(0), threads.eq(threads + 1)]
            with m.Else():
                m.next = "geometry"
        self._run(m, "geometry", Stage.GEOMETRY, first, threads, settled)
        with m.State("geometry' end"):
            m.d.comb += [self._at(Stage.COPY), self.emits.begin.eq(self.emits.idle)]
            with m.If(self.emits.idle):
                m.next = "emitted batch"
        with m.State("emitted batch"):
            m.d.comb += self._at(Stage.COPY)
            with m.If(emitted.closed):
                m.next = "copies"
        self._run(m, "copies", Stage.COPY, first, emitted.used, settled)
        with m.State("copies' end"):
            m.d.comb += self._at(Stage.PIXELS)
            m.next = "pixels"
        with m.State("emitted batch's end"):
            m.d.comb += [self._at(Stage.COPY), emitted.done.eq(1)]
            m.next = "emitted batch"
            with m.If(emitted.ends):
                m.d.sync += threads.eq(0)
                m.next = "threads"
                with m.If(~given.valid):
                    m.next = "batch's end"

    def _at(self, stage: Stage) -> Assign:
        statement: Assign = self.stage.eq(stage)
        return statement

    def _give(self, m: Module, batch: wiring.PureInterface) -> None:
        """Give a batch's primitives, unless the draw discards them."""
        given, taken, discards = batch.primitive, self.raster.primitive, self.draw.state.raster.discard
        corners, payload = given.payload.corners, given.payload
        drawn, number = [corners[corner] for corner in range(CORNERS)], Value.cast(payload.number)
        if len(corners) > CORNERS:
            # Neighbours are not drawn.
            every_second = self.corners == MOST_CORNERS
            drawn = [Mux(every_second, corners[2 * corner], own) for corner, own in enumerate(drawn)]
        elif self._geometry:
            number = Const(0)
        m.d.comb += [
            taken.valid.eq(given.valid & ~discards),
            *(own.eq(corner) for own, corner in zip(taken.payload.corners, drawn, strict=True)),
            taken.payload.provoking.eq(payload.provoking),
            taken.payload.number.eq(number),
            given.ready.eq(discards | taken.ready),
        ]

    def _settle(self, m: Module) -> Value:
        """Whether the array has been idle, and nothing was given to it, for some cycles."""
        count = Signal(range(_SETTLES + 1), name="settled")
        is_idle = self.array.idle & ~self.vertices.valid & self.raster.idle & ~self.raster.primitive.valid
        ends = self.batch.done | (self.emitted.done if self._geometry else 0)
        with m.If(~is_idle | ends):
            m.d.sync += count.eq(0)
        with m.Elif(count != _SETTLES):
            m.d.sync += count.eq(count + 1)
        return count == _SETTLES

    def _record_fault(self, m: Module, runs: Value) -> None:
        """Keep the first fault."""
        draw, fault, batch = self.draw, self.array.fault, self.batch
        with m.If(runs & fault.valid & (self.stage != Stage.PIXELS)):
            m.d.sync += self._stopped.eq(1)
        with m.If(draw.start):
            m.d.sync += [draw.failed.eq(0), draw.index_failed.eq(0)]
        with m.Elif(runs & ~draw.failed & fault.valid):
            m.d.sync += [draw.failed.eq(1), draw.failure.eq(fault.payload)]
        with m.Elif(runs & ~draw.failed & batch.closed & batch.error):
            m.d.sync += [draw.failed.eq(1), draw.index_failed.eq(1), Value.cast(draw.failure).eq(0)]
            m.d.sync += [draw.failure.status.eq(Status.BUS_ERROR), draw.failure.client.eq(BusClient.COMMAND)]
