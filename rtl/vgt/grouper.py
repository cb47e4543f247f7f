"""The vertex grouper: from a draw's indices, or from emitted vertices, to batches of vertices and primitives.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.assembly import DRAW_STATE, MOST_CORNERS, Batch, Grouping, StreamSpace
from ctm.rtl.border.draws import CORNERS
from ctm.rtl.border.lines import LineClient
from ctm.rtl.vgt.batch_builder import BatchBuilder
from ctm.rtl.vgt.index_reader import IndexReader
from ctm.rtl.vgt.topology import Topology, assembled, corners_of


class VertexGrouper(wiring.Component):
    """Makes the batches of one instance after the other. With `geometry` primitives of all kinds, and streams.

    Members
    -------
    control : ``In(Grouping())``
    state : ``In(DRAW_STATE)``
        Constant from `control.begin` until the instance's last batch is done.
    by_primitive : ``In(1)``
        Likewise: vertices are of one primitive each.
    most : ``In(range(vertices + 1))``
        Likewise: the most vertices of a batch.
    batch : ``Out(Batch(vertices, corners))``
    lines : ``Out(LineClient())``
    space : ``Out(StreamSpace())``
        With `geometry`.
    """

    def __init__(self, vertices: int, *, geometry: bool = False) -> None:
        self._vertices, self._geometry = vertices, geometry
        self._corners = MOST_CORNERS if geometry else CORNERS
        super().__init__(
            {
                "control": In(Grouping()),
                "state": In(DRAW_STATE),
                "by_primitive": In(1),
                "most": In(range(vertices + 1)),
                "batch": Out(Batch(vertices, self._corners)),
                "lines": Out(LineClient()),
                **({"space": Out(StreamSpace())} if geometry else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        state, geometry = self.state, self._geometry
        kinds = assembled(geometry=geometry)
        m.submodules.reader = reader = IndexReader()
        m.submodules.topology = topology = Topology(kinds)
        m.submodules.builder = builder = BatchBuilder(self._vertices, self._corners, streams=geometry)
        connect(m, reader.lines, flipped(self.lines))
        connect(m, reader.index, topology.index)
        connect(m, topology.primitive, builder.indices)
        connect(m, builder.batch, flipped(self.batch))
        if geometry:
            connect(m, builder.space, flipped(self.space))
        m.d.comb += [
            reader.begin.eq(self.control.begin),
            topology.begin.eq(self.control.begin),
            builder.begin.eq(self.control.begin),
            reader.buffer.eq(state.indices),
            reader.drop.eq(self.control.drop),
            reader.count.eq(state.count),
            self.control.idle.eq(reader.idle),
            topology.kind.eq(state.raster.primitive),
            topology.provoking_last.eq(state.raster.provoking_last),
            topology.base_vertex.eq(state.base_vertex),
            builder.by_primitive.eq(self.by_primitive),
            builder.corners.eq(corners_of(state.raster.primitive, kinds)),
            builder.most.eq(self.most),
        ]
        return m
