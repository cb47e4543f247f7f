"""The graphics pipeline around the array: from a draw's start to its strips. This file wires.

docs/design/draws.md has the picture.
"""

from amaranth import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.drawing import DrawClient
from ctm.rtl.border.lines import LineClient
from ctm.rtl.border.programs import program_fault_layout, wavefront_layout
from ctm.rtl.border.shading import DRAW, DRAW_PROGRAMS, RECORDS, ShadingClient, Stage, drawn_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.draw.interlock import Interlock
from ctm.rtl.draw.records import Records
from ctm.rtl.draw.run import DrawRun
from ctm.rtl.draw.support import is_beyond
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.lib.register_slice import SliceMode, connect_slice
from ctm.rtl.pa.rasterizer import Rasterizer
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.rtl.vgt.store import VertexStore


class DrawPipeline(wiring.Component):
    """Makes the wavefronts of draws, of vertices and of pixels.

    Members
    -------
    draw : ``In(DrawClient(program_format))``
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
    array_idle, fault
        As those of the array.
    """

    def __init__(self, config: MachineConfig, program_format: ProgramFormat) -> None:
        self._config, self._format = config, program_format
        lanes = config.array.group
        super().__init__(
            {
                "draw": In(DrawClient(program_format)),
                "tests": In(1),
                "programs": In(DRAW_PROGRAMS),
                "state": Out(DRAW),
                "lines": Out(LineClient()),
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, drawn=drawn_layout(config)))),
                "shading": In(ShadingClient(config)),
                "array_idle": In(1),
                "fault": In(stream.Signature(program_fault_layout(program_format), always_ready=True)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, vertices = self._config, self._config.pipeline.vertices
        m.submodules.run = run = DrawRun(config, self._format)
        m.submodules.grouper = grouper = VertexGrouper(vertices)
        m.submodules.store = store = VertexStore(vertices)
        m.submodules.rasterizer = rasterizer = Rasterizer(
            lanes=config.array.group, vertices=vertices, records=RECORDS
        )  # fmt: skip
        m.submodules.interlock = interlock = Interlock(config)
        m.submodules.records = records = Records(config.array.threads)
        draw, shading = self.draw, self.shading
        connect(m, flipped(draw), run.draw)
        connect(m, flipped(self.fault), run.fault)
        connect(m, grouper.lines, flipped(self.lines))
        connect(m, grouper.batch, run.batch)
        connect(m, run.primitive, rasterizer.primitive)
        connect(m, rasterizer.positions, store.positions)
        connect(m, records.free, rasterizer.records.free)
        connect_slice(m, "strips", rasterizer.strip, interlock.strip, SliceMode.LIGHT)
        m.d.comb += [
            grouper.begin.eq(run.begin),
            grouper.drop.eq(run.drop),
            grouper.state.eq(draw.state),
            grouper.by_primitive.eq(self.programs.by_primitive),
            run.grouper_idle.eq(grouper.idle),
            run.array_idle.eq(self.array_idle),
            run.raster_idle.eq(rasterizer.idle & interlock.idle),
            store.vertex.eq(grouper.batch.vertex),
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
            interlock.ended.eq(shading.ended),
        ]
        self._connect_states(m, run, rasterizer)
        self._choose(m, run, interlock)
        return m

    def _connect_states(self, m: Module, run: DrawRun, rasterizer: Rasterizer) -> None:
        """What the raster and the array's program depend on."""
        state, raster, programs, own = self.draw.state, rasterizer.state, self.programs, self.state
        m.d.comb += [
            raster.viewport.eq(state.viewport),
            raster.raster.eq(state.raster),
            raster.radius.eq(state.radius),
            raster.points.eq(Value.cast(state.raster.primitive) == PrimitiveType.POINTLIST.value),
            raster.clip_distances.eq(programs.clip_distances),
            raster.cull_distances.eq(programs.cull_distances),
            own.stage.eq(run.stage),
            own.is_bad.eq(is_beyond(state) | self.tests),
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
