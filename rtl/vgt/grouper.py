"""The vertex grouper: from a draw's indices to batches of vertices and primitives.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.assembly import DRAW_STATE, Batch
from ctm.rtl.border.lines import LineClient
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.vgt.batch_builder import BatchBuilder
from ctm.rtl.vgt.index_reader import IndexReader
from ctm.rtl.vgt.topology import Topology


class VertexGrouper(wiring.Component):
    """Makes the batches of one instance after the other.

    Members
    -------
    begin : ``In(1)``
        Begin an instance, only while `idle`; what is left of the last one is dropped.
    drop : ``In(1)``
        Read no more indices.
    idle : ``Out(1)``
        No line of indices is in flight.
    state : ``In(DRAW_STATE)``
        Constant from `begin` until the instance's last batch is done.
    by_primitive : ``In(1)``
        Likewise: vertices are of one primitive each.
    batch : ``Out(Batch(vertices))``
    lines : ``Out(LineClient())``
    """

    def __init__(self, vertices: int) -> None:
        self._vertices = vertices
        super().__init__(
            {
                "begin": In(1),
                "drop": In(1),
                "idle": Out(1),
                "state": In(DRAW_STATE),
                "by_primitive": In(1),
                "batch": Out(Batch(vertices)),
                "lines": Out(LineClient()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        state = self.state
        m.submodules.reader = reader = IndexReader()
        m.submodules.topology = topology = Topology()
        m.submodules.builder = builder = BatchBuilder(self._vertices)
        connect(m, reader.lines, flipped(self.lines))
        connect(m, reader.index, topology.index)
        connect(m, topology.primitive, builder.indices)
        connect(m, builder.batch, flipped(self.batch))
        m.d.comb += [
            reader.begin.eq(self.begin),
            topology.begin.eq(self.begin),
            builder.begin.eq(self.begin),
            reader.buffer.eq(state.indices),
            topology.buffer.eq(state.indices),
            reader.drop.eq(self.drop),
            reader.count.eq(state.count),
            self.idle.eq(reader.idle),
            topology.raster.eq(state.raster),
            topology.base_vertex.eq(state.base_vertex),
            builder.by_primitive.eq(self.by_primitive),
            builder.points.eq(Value.cast(state.raster.primitive) == PrimitiveType.POINTLIST.value),
        ]
        return m
