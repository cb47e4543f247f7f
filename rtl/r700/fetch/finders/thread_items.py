"""The items of a draw's threads that an export writes: those of a ring, or vertices of a stream.

Source: docs/draws.md, rings and stream-out.
"""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.shading import vertex_write_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.border.walk import PixelWalk
from ctm.rtl.r700.fetch.finders.item_addresses import ItemAddresses
from ctm.rtl.r700.fetch.micro_op import micro_op_layout
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.shapes import AREA_WORD_BITS, PROGRAM

_STREAMED = data.StructLayout({"streamed": 1, "number": WORD_BITS})


class ThreadItems(wiring.Component):
    """Finds the element of every thread in the item that its export writes, as `ItemAddresses` and with its latency.

    It holds what streams need of each vertex, from the entry's write until the entry is written again.

    Members
    -------
    walk : ``Out(PixelWalk(W))``
        An element is an `ITEM_ELEMENT`; all threads have one.
    program : ``In(PROGRAM)``
    current : ``In(micro_op_layout(config.array))``
    first : ``In(AREA_WORD_BITS)``
        The entry of the wavefront's first thread.
    index : ``In(32)``
        The index of the thread that is wanted.
    vertex : ``In(vertex_write_layout(vertices))``
        A vertex, before the wavefront that shades it starts.
    writes : ``In(1)``
        The writer offers words of an item.
    streams : ``Out(STREAMS)``
        A cycle later: the bit of the stream that they belong to.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._size, self._vertices = Partition.of(config.array).slice, config.pipeline.vertices
        super().__init__(
            {
                "walk": Out(PixelWalk(self._size)),
                "program": In(PROGRAM),
                "current": In(micro_op_layout(config.array)),
                "first": In(AREA_WORD_BITS),
                "index": In(WORD_BITS),
                "vertex": In(vertex_write_layout(config.pipeline.vertices)),
                "writes": In(1),
                "streams": Out(STREAMS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        current, vertex = self.current, self.vertex
        addresses = ItemAddresses(self._size, self._vertices)
        m.submodules.addresses = Gated(addresses, addresses.walk.start)
        m.submodules.streamed = streamed = DistributedRam(_STREAMED, self._vertices)
        streamed.write(m, vertex.entry, Cat(vertex.streamed, vertex.number), vertex.valid)
        thread = (self.first + Cat(addresses.walk.wanted, current.slice))[: (self._vertices - 1).bit_length()]
        found = streamed.read(m, thread)
        operation = Value.cast(data.View(exports.EXPORT_DWORD1_BUF, current.clause.unit[WORD_BITS:]).cf_inst)
        is_stream = operation.matches(*(each.value for each in exports.STREAM_WRITES))
        number = operation[: (STREAMS - 1).bit_length()]
        connect(m, flipped(self.walk), addresses.walk)
        m.d.comb += [
            addresses.program.eq(self.program),
            addresses.access.eq(current.fetch.access),
            addresses.burst.eq(current.burst),
            addresses.streams.eq(is_stream),
            addresses.stream.eq(number),
            addresses.index.eq(self.index),
            addresses.thread.eq(thread),
            addresses.streamed.eq(found.streamed),
            addresses.number.eq(found.number),
        ]
        # No output of a core depends on a signal that settles late in a cycle.
        m.d.sync += self.streams.eq(Mux(self.writes & is_stream, 1 << number, 0))
        return m
