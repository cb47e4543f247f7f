"""From what geometry programs emit to batches of vertices, for the copy program, and their primitives.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module, ResetInserter
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.assembly import Batch, EmitGrouping, StreamSpace
from ctm.rtl.border.shading import GEOMETRY_PROGRAM, emit_layout
from ctm.rtl.vgt.batch_builder import BatchBuilder
from ctm.rtl.vgt.emits import Emits
from ctm.rtl.vgt.topology import EMITTED, Topology, corners_of


class EmitGrouper(wiring.Component):
    """Makes the batches of the vertices that a run of the geometry program emitted.

    The index of a vertex is its dword in the ring.

    Members
    -------
    control : ``In(EmitGrouping(vertices))``
    emitted : ``In(stream.Signature(emit_layout(lanes, vertices)))``
    program : ``In(GEOMETRY_PROGRAM)``
    provoking_last : ``In(1)``
    batch : ``Out(Batch(vertices))``
        It `ends` with the last one of the run.
    space : ``Out(StreamSpace())``
    """

    def __init__(self, lanes: int, vertices: int) -> None:
        self._lanes, self._vertices = lanes, vertices
        super().__init__(
            {
                "control": In(EmitGrouping(vertices)),
                "emitted": In(stream.Signature(emit_layout(lanes, vertices))),
                "program": In(GEOMETRY_PROGRAM),
                "provoking_last": In(1),
                "batch": Out(Batch(vertices)),
                "space": Out(StreamSpace()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        emits = Emits(self._lanes, self._vertices)
        m.submodules.emits = ResetInserter(self.control.clear)(emits)
        m.submodules.topology = topology = Topology(EMITTED)
        m.submodules.builder = builder = BatchBuilder(self._vertices, streams=True)
        connect(m, flipped(self.emitted), emits.emitted)
        connect(m, emits.vertex, topology.index)
        connect(m, topology.primitive, builder.indices)
        connect(m, builder.batch, flipped(self.batch))
        connect(m, builder.space, flipped(self.space))
        m.d.comb += [
            emits.program.eq(self.program),
            emits.start.eq(self.control.begin),
            emits.threads.eq(self.control.threads),
            self.control.idle.eq(emits.idle),
            topology.begin.eq(self.control.begin),
            topology.kind.eq(self.program.output),
            topology.provoking_last.eq(self.provoking_last),
            builder.begin.eq(self.control.begin),
            builder.corners.eq(corners_of(self.program.output, EMITTED)),
            builder.most.eq(self._vertices),
        ]
        return m
