"""The graphics pipeline around the array: from a draw's start to its strips. This file wires.

docs/design/draws.md has the picture.
"""

from amaranth import Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.drawing import DrawClient, FilledClient
from ctm.rtl.border.lines import LineClient
from ctm.rtl.border.programs import ArrayReport, wavefront_layout
from ctm.rtl.border.shading import (
    DRAW,
    DRAW_PROGRAMS,
    RECORDS,
    RING_WRITE,
    STREAM_WRITE,
    Blending,
    ShadingClient,
    Stage,
    drawn_layout,
)
from ctm.rtl.config import MachineConfig
from ctm.rtl.draw.blend_order import BlendOrder
from ctm.rtl.draw.interlock import Interlock
from ctm.rtl.draw.records import Records
from ctm.rtl.draw.rings import Rings
from ctm.rtl.draw.run import DrawRun
from ctm.rtl.draw.streams import Streams
from ctm.rtl.draw.support import is_beyond
from ctm.rtl.isa.draws import PrimitiveType, Ring
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.lib.register_slice import SliceMode, connect_slice
from ctm.rtl.pa.rasterizer import EVENTS, Rasterizer
from ctm.rtl.vgt.emit_grouper import EmitGrouper
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.rtl.vgt.store import VertexStore
from ctm.rtl.vgt.topology import assembled, corners_of

DRAW_COUNTS = data.StructLayout(
    {
        **dict.fromkeys(("vertices", "emitted", "strips", "clocks_vertices", "clocks_pixels"), 1),
        **dict.fromkeys(("wait_order", "wait_raster"), 1),
        "raster": EVENTS,
    }
)
"""What happened in a cycle, for the host's counters of draws."""


class DrawPipeline(wiring.Component):
    """Makes the wavefronts of draws, of vertices and of pixels.

    Members
    -------
    draw : ``In(DrawClient(program_format))``
    ring, stream : ``In(RING_WRITE)``, ``In(STREAM_WRITE)``
        With geometry programs, as the next two: what commands set.
    filled : ``In(FilledClient())``
    tests : ``In(1)``
        The conditional unit tests the command processor's lanes, which no draw does.
    programs : ``In(DRAW_PROGRAMS)``
    state : ``Out(DRAW)``
        What the array's program depends on.
    lines : ``Out(LineClient())``
        Indices.
    wavefront : ``Out(stream.Signature(wavefront_layout(lanes, drawn=...)))``
    shading : ``In(ShadingClient(config))``
        The core's; its vertex buffers are connected elsewhere.
    blending : ``Out(Blending())``
    counts, covered : ``Out(DRAW_COUNTS)``, ``Out(lanes)``
        What happened in the cycle before, and the covered pixels of the strip that was given.
    array : ``In(ArrayReport(program_format))``
    """

    def __init__(self, config: MachineConfig, program_format: ProgramFormat) -> None:
        self._config, self._format = config, program_format
        lanes = config.array.wavefront_lanes
        geometry = {
            "ring": In(RING_WRITE),
            "stream": In(STREAM_WRITE),
            "filled": In(FilledClient()),
        }
        super().__init__(
            {
                "draw": In(DrawClient(program_format)),
                "tests": In(1),
                "programs": In(DRAW_PROGRAMS),
                "state": Out(DRAW),
                "lines": Out(LineClient()),
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, drawn=drawn_layout(config)))),
                "shading": In(ShadingClient(config)),
                **(geometry if config.pipeline.has_geometry else {}),
                "blending": Out(Blending()),
                "counts": Out(DRAW_COUNTS),
                "covered": Out(lanes),
                "array": In(ArrayReport(program_format)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, vertices = self._config, self._config.pipeline.vertices
        geometry = config.pipeline.has_geometry
        m.submodules.run = run = DrawRun(config, self._format)
        m.submodules.grouper = grouper = VertexGrouper(vertices, geometry=geometry)
        m.submodules.store = store = VertexStore(vertices)
        m.submodules.rasterizer = rasterizer = Rasterizer(
            lanes=config.array.wavefront_lanes, vertices=vertices, records=RECORDS
        )  # fmt: skip
        m.submodules.interlock = interlock = Interlock(config)
        m.submodules.order = order = BlendOrder(config.array.threads)
        m.submodules.records = records = Records(config.array.threads)
        draw, shading = self.draw, self.shading
        connect(m, flipped(draw), run.draw)
        connect(m, flipped(self.array), run.array)
        connect(m, run.grouper, grouper.control)
        connect(m, grouper.lines, flipped(self.lines))
        connect(m, grouper.batch, run.batch)
        connect(m, run.raster.primitive, rasterizer.primitive)
        connect(m, rasterizer.positions, store.positions)
        connect(m, records.free, rasterizer.records.free)
        connect_slice(m, "strips", rasterizer.strip, interlock.strip, SliceMode.LIGHT)
        m.d.comb += [
            grouper.state.eq(draw.state),
            grouper.by_primitive.eq(self.programs.by_primitive),
            run.raster.idle.eq(rasterizer.idle & interlock.idle),
            store.vertex.eq(shading.vertex),
            store.exported.eq(shading.exported),
            store.record.eq(rasterizer.records.write),
            store.constant.eq(shading.constant),
            shading.words.eq(store.words),
            shading.vertex.eq(grouper.batch.vertex),
            records.made.eq(rasterizer.records.made),
            # From here on: between the units a strip may wait.
            records.begun.valid.eq(rasterizer.strip.valid & rasterizer.strip.ready),
            records.begun.record.eq(rasterizer.strip.payload.constants.record),
            records.ended.eq(interlock.record_ended),
            order.adds.eq(draw.state.raster.add),
            order.ended.eq(shading.ended),
            order.taken.eq(self.blending.taken),
            order.written.eq(self.blending.written),
            interlock.ended.eq(order.ends),
            self.blending.adds.eq(draw.state.raster.add & (run.stage == Stage.PIXELS)),
        ]
        self._connect_states(m, run, rasterizer)
        self._choose(m, run, interlock)
        self._count(m, run, grouper, rasterizer, interlock)
        if geometry:
            self._connect_geometry(m, run, grouper)
        else:
            m.d.comb += grouper.most.eq(vertices)
        return m

    def _count(
        self, m: Module, run: DrawRun, grouper: VertexGrouper, rasterizer: Rasterizer, interlock: Interlock
    ) -> None:
        """Say what happened, for counters."""
        counts, granted = self.counts, interlock.granted
        draws, of_pixels = ~self.draw.ended, run.stage == Stage.PIXELS
        goes = of_pixels & granted.valid & granted.ready
        m.d.sync += [
            counts.vertices.eq(grouper.batch.vertex.valid),
            counts.strips.eq(goes),
            self.covered.eq(Mux(goes, granted.payload.strip.covered, 0)),
            counts.clocks_vertices.eq(draws & ~of_pixels),
            counts.clocks_pixels.eq(draws & of_pixels),
            counts.wait_order.eq(draws & of_pixels & interlock.waits),
            counts.wait_raster.eq(draws & of_pixels & ~granted.valid & ~interlock.waits & ~rasterizer.idle),
        ]
        m.d.comb += [counts.raster.eq(rasterizer.events)]

    def _connect_geometry(self, m: Module, run: DrawRun, grouper: VertexGrouper) -> None:
        """Geometry programs, their rings, and streams."""
        config, draw, shading, program = self._config, self.draw, self.shading, self.programs.geometry
        lanes, vertices = config.array.wavefront_lanes, config.pipeline.vertices
        m.submodules.emits = emits = EmitGrouper(lanes, vertices)
        m.submodules.rings = rings = Rings(lanes, vertices)
        m.submodules.streams = streams = Streams()
        connect(m, emits.batch, run.emitted)
        connect(m, run.emits, emits.control)
        connect(m, rings.fit, run.rings)
        connect(m, flipped(shading.emits), emits.emitted)
        m.d.comb += [
            emits.program.eq(program),
            emits.provoking_last.eq(draw.state.raster.provoking_last),
            run.corners.eq(corners_of(draw.state.raster.primitive, assembled(geometry=True))),
            run.program.eq(program),
            grouper.most.eq(Mux(program.present, rings.fit.most[Ring.ES_GS.value], vertices)),
            shading.thread.eq(run.thread),
            rings.write.eq(self.ring),
            rings.items[Ring.ES_GS.value].eq(program.vertex_item),
            rings.items[Ring.GS_VS.value].eq(program.item),
            rings.begin.eq(draw.start),
            streams.write.eq(self.stream),
            streams.begin.eq(draw.start),
            streams.commit.eq(run.done),
            streams.written.eq(shading.streams),
            streams.number.eq(self.filled.stream),
            self.filled.dwords.eq(streams.filled),
            self.state.rings.eq(rings.dwords),
            self.state.streams.eq(streams.streams),
        ]
        with m.If(program.present & rings.is_small):
            m.d.comb += self.state.is_bad.eq(1)
        m.d.sync += self.counts.emitted.eq(emits.batch.vertex.valid)
        with m.If(emits.batch.vertex.valid):
            m.d.comb += shading.vertex.eq(emits.batch.vertex)
        # Streams are those of the last program before the primitives are drawn.
        spaces = (grouper.space, ~program.present), (emits.space, program.present)
        for space, asks in spaces:
            m.d.comb += [
                space.streams.eq(streams.space.streams & asks),
                space.known.eq(streams.space.known),
                space.fits.eq(streams.space.fits & asks),
                space.number.eq(streams.space.number),
            ]
            with m.If(asks):
                m.d.comb += [streams.space.corners.eq(space.corners), streams.space.take.eq(space.take)]

    def _connect_states(self, m: Module, run: DrawRun, rasterizer: Rasterizer) -> None:
        """What the raster and the array's program depend on."""
        state, raster, programs, own = self.draw.state, rasterizer.state, self.programs, self.state
        beyond = is_beyond(state, programs.geometry, geometry=self._config.pipeline.has_geometry)
        m.d.comb += [
            raster.viewport.eq(state.viewport),
            raster.raster.eq(state.raster),
            raster.radius.eq(state.radius),
            raster.points.eq(
                Mux(programs.geometry.present, Value.cast(programs.geometry.output), Value.cast(state.raster.primitive))
                == PrimitiveType.POINTLIST.value
            ),
            raster.clip_distances.eq(programs.clip_distances),
            raster.cull_distances.eq(programs.cull_distances),
            own.stage.eq(run.stage),
            own.is_bad.eq(beyond | self.tests),
            own.adds.eq(state.raster.add),
            own.first_instance.eq(state.first_instance),
            own.instance.eq(run.instance),
            own.lowest_depth.eq(state.lowest_depth),
            own.highest_depth.eq(state.highest_depth),
        ]
        with m.If(self.draw.start):
            m.d.sync += raster.domain.eq(self.draw.domain)

    def _choose(self, m: Module, run: DrawRun, interlock: Interlock) -> None:
        """Give the array wavefronts of vertices or of pixels."""
        wavefront, vertices, granted = self.wavefront, run.vertices, interlock.granted
        payload, strip = wavefront.payload, granted.payload.strip
        of_pixels = run.stage == Stage.PIXELS
        with m.If(of_pixels):
            m.d.comb += [
                wavefront.valid.eq(granted.valid),
                granted.ready.eq(wavefront.ready),
                *(payload[name].eq(strip[name]) for name in ("i", "j", "covered")),
            ]
        with m.Else():
            m.d.comb += [
                wavefront.valid.eq(vertices.valid),
                vertices.ready.eq(wavefront.ready),
                *(payload[name].eq(vertices.payload[name]) for name in ("i", "j", "covered")),
            ]
        m.d.comb += [
            payload.drawn.constants.eq(strip.constants),
            payload.drawn.edges.eq(strip.edges),
            payload.drawn.ticket.eq(granted.payload.ticket),
        ]
