"""From what geometry programs emit to batches of vertices, for the copy program, and their primitives.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module, ResetInserter
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.assembly import Batch, StreamSpace
from ctm.rtl.border.shading import GEOMETRY_PROGRAM, emit_layout
from ctm.rtl.vgt.batch_builder import BatchBuilder
from ctm.rtl.vgt.emits import Emits
from ctm.rtl.vgt.topology import EMITTED, Topology, corners_of


class EmitGrouper(wiring.Component):
    """Makes the batches of the vertices that a run of the geometry program emitted.

    The index of a vertex is its dword in the ring.

    Members
    -------
    clear : ``In(1)``
        A run begins, which has emitted nothing.
    emitted : ``In(stream.Signature(emit_layout(lanes, vertices)))``
    idle : ``Out(1)``
        All that was emitted is kept.
    begin : ``In(1)``
        Make the batches of threads 0 to `threads` - 1; only while `idle`.
    threads : ``In(range(vertices + 1))``
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
                "clear": In(1),
                "emitted": In(stream.Signature(emit_layout(lanes, vertices))),
                "idle": Out(1),
                "begin": In(1),
                "threads": In(range(vertices + 1)),
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
        m.submodules.emits = ResetInserter(self.clear)(emits)
        m.submodules.topology = topology = Topology(EMITTED)
        m.submodules.builder = builder = BatchBuilder(self._vertices, streams=True)
        connect(m, flipped(self.emitted), emits.emitted)
        connect(m, emits.vertex, topology.index)
        connect(m, topology.primitive, builder.indices)
        connect(m, builder.batch, flipped(self.batch))
        connect(m, builder.space, flipped(self.space))
        m.d.comb += [
            emits.program.eq(self.program),
            emits.start.eq(self.begin),
            emits.threads.eq(self.threads),
            self.idle.eq(emits.idle),
            topology.begin.eq(self.begin),
            topology.kind.eq(self.program.output),
            topology.provoking_last.eq(self.provoking_last),
            builder.begin.eq(self.begin),
            builder.corners.eq(corners_of(self.program.output, EMITTED)),
            builder.most.eq(self._vertices),
        ]
        return m
