"""Runs a draw: batch after batch, first its vertices and then its pixels.

Source: docs/design/draws.md.
"""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import Batch
from ctm.rtl.border.drawing import DrawClient
from ctm.rtl.border.draws import primitive_layout
from ctm.rtl.border.programs import program_fault_layout, wavefront_layout
from ctm.rtl.border.shading import Stage
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.status import BusClient, Status

_SETTLES = 4
"""Cycles in which the array may look idle after it was given a wavefront."""


class DrawRun(wiring.Component):
    """Runs the phases of a draw. Programs of one phase all end before the next phase begins.

    A fault of vertices ends the draw in front of the batch's pixels; a fault of pixels keeps the rest of the draw, and
    the first one is reported.

    Members
    -------
    draw : ``In(DrawClient(program_format))``
    begin, drop : ``Out(1)``
        See `VertexGrouper`.
    grouper_idle : ``In(1)``
    batch : ``In(Batch(vertices))``
    primitive : ``Out(stream.Signature(primitive_layout(vertices)))``
        The primitives that are drawn.
    raster_idle : ``In(1)``
        No primitive and no strip is in flight.
    vertices : ``Out(stream.Signature(wavefront_layout(lanes)))``
        Wavefronts of vertices: i is the entry of the first one.
    stage : ``Out(Stage)``
    instance : ``Out(32)``
    array_idle : ``In(1)``
        May still be high for some cycles after the array was given a wavefront.
    fault : ``In(stream.Signature(program_fault_layout(program_format), always_ready=True))``
    """

    def __init__(self, config: MachineConfig, program_format: ProgramFormat) -> None:
        self._group, self._vertices = config.array.group, config.pipeline.vertices
        primitive = stream.Signature(primitive_layout(self._vertices))
        fault = program_fault_layout(program_format)
        super().__init__(
            {
                "draw": In(DrawClient(program_format)),
                "begin": Out(1),
                "drop": Out(1),
                "grouper_idle": In(1),
                "batch": In(Batch(self._vertices)),
                "primitive": Out(primitive),
                "raster_idle": In(1),
                "vertices": Out(stream.Signature(wavefront_layout(self._group))),
                "stage": Out(Stage),
                "instance": Out(WORD_BITS),
                "array_idle": In(1),
                "fault": In(stream.Signature(fault, always_ready=True)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        draw, batch = self.draw, self.batch
        first, runs = Signal(range(self._vertices + self._group)), Signal()
        settled = self._settle(m)
        m.d.comb += [
            Value.cast(self.stage).eq(Mux(draw.launching, Stage.VERTICES.value, Stage.DOMAIN.value)),
            draw.ended.eq(~runs),
        ]
        self._record_fault(m, runs)
        with m.If(draw.start):
            m.d.sync += runs.eq(1)
        with m.FSM():
            with m.State("idle"):
                m.d.sync += self.instance.eq(0)
                with m.If(runs):
                    m.next = "instance"
                    with m.If(~draw.state.count.any() | ~draw.state.instances.any()):
                        m.next = "end"
            with m.State("instance"):
                m.d.comb += [self._at(Stage.VERTICES), self.begin.eq(self.grouper_idle)]
                with m.If(self.grouper_idle):
                    m.next = "batch"
            with m.State("batch"):
                m.d.comb += self._at(Stage.VERTICES)
                m.d.sync += first.eq(0)
                with m.If(batch.closed):
                    m.next = "vertices"
                    with m.If(batch.error):
                        m.next = "end"
            self._shade(m, first, settled)
            with m.State("batch's end"):
                m.d.comb += [self._at(Stage.VERTICES), batch.done.eq(1)]
                m.next = "batch"
                with m.If(batch.ends):
                    m.d.sync += self.instance.eq(self.instance + 1)
                    m.next = "instance"
                    with m.If(self.instance == draw.state.instances - 1):
                        m.next = "end"
            with m.State("end"):
                m.d.comb += self.drop.eq(1)
                with m.If(self.grouper_idle & settled):
                    m.d.sync += runs.eq(0)
                    m.next = "idle"
        return m

    def _shade(self, m: Module, first: Signal, settled: Value) -> None:
        """Run the two phases of a batch."""
        draw, batch = self.draw, self.batch
        with m.State("vertices"):
            m.d.comb += self._at(Stage.VERTICES)
            with m.If(first >= batch.used):
                m.next = "vertices' end"
            with m.Else():
                self._offer(m, first)
        with m.State("vertices' end"):
            m.d.comb += self._at(Stage.VERTICES)
            with m.If(settled):
                m.next = "pixels"
                with m.If(draw.failed):
                    m.next = "end"
        with m.State("pixels"):
            m.d.comb += self._at(Stage.PIXELS)
            self._give_primitives(m)
            with m.If(~batch.primitive.valid & self.raster_idle & settled):
                m.next = "batch's end"

    def _at(self, stage: Stage) -> Any:
        return self.stage.eq(stage)

    def _offer(self, m: Module, first: Signal) -> None:
        """Offer a wavefront of vertices."""
        vertices, batch = self.vertices, self.batch
        payload = vertices.payload
        m.d.comb += [
            vertices.valid.eq(1),
            payload.i.eq(first),
            *(payload.covered[lane].eq(first + lane < batch.used) for lane in range(self._group)),
        ]
        with m.If(vertices.ready):
            m.d.sync += first.eq(first + self._group)

    def _give_primitives(self, m: Module) -> None:
        """Give the batch's primitives, unless the draw discards them."""
        given, taken, discards = self.batch.primitive, self.primitive, self.draw.state.raster.discard
        m.d.comb += [
            taken.valid.eq(given.valid & ~discards),
            taken.payload.eq(given.payload),
            given.ready.eq(discards | taken.ready),
        ]

    def _settle(self, m: Module) -> Value:
        """Whether the array has been idle, and nothing was given to it, for some cycles."""
        count = Signal(range(_SETTLES + 1), name="settled")
        is_quiet = self.array_idle & ~self.vertices.valid & self.raster_idle & ~self.primitive.valid
        with m.If(~is_quiet | self.batch.done):
            m.d.sync += count.eq(0)
        with m.Elif(count != _SETTLES):
            m.d.sync += count.eq(count + 1)
        return count == _SETTLES

    def _record_fault(self, m: Module, runs: Value) -> None:
        """Keep the first fault."""
        draw, fault, batch = self.draw, self.fault, self.batch
        with m.If(draw.start):
            m.d.sync += [draw.failed.eq(0), draw.index_failed.eq(0)]
        with m.Elif(runs & ~draw.failed & fault.valid):
            m.d.sync += [draw.failed.eq(1), draw.failure.eq(fault.payload)]
        with m.Elif(runs & ~draw.failed & batch.closed & batch.error):
            m.d.sync += [draw.failed.eq(1), draw.index_failed.eq(1), Value.cast(draw.failure).eq(0)]
            m.d.sync += [draw.failure.status.eq(Status.BUS_ERROR), draw.failure.client.eq(BusClient.COMMAND)]
