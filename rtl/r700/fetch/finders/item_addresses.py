"""Items of threads in memory: the addresses that a draw's programs write in rings and streams.

Source: docs/draws.md, rings and stream-out.
"""

from amaranth import Array, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import PAGE_BITS
from ctm.rtl.border.shading import DWORD_BITS
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import CHANNELS, COORDINATE_BITS, WORD_BITS
from ctm.rtl.r700.border.walk import PixelWalk, count_walk
from ctm.rtl.r700.fetch.operation import ACCESS
from ctm.rtl.r700.shapes import PROGRAM

ITEM_ELEMENT = data.StructLayout({"dword": DWORD_BITS, "inside": CHANNELS})
"""The number in memory of the dword of component 0, and the components that lie in the thread's item."""

_INDEX_BITS = WORD_BITS + 1
_OFFSET_BITS = _INDEX_BITS + 3
_STEPS = 3


def word_at(element: data.View, component: Value | int) -> tuple[Value, Value, Value]:
    """Column, row and page, as in a request of all of memory, of a component of an `ITEM_ELEMENT`."""
    dword = (element.dword + component)[:DWORD_BITS]
    page = dword[2 * COORDINATE_BITS :]
    assert len(page) == PAGE_BITS
    return dword[:COORDINATE_BITS], dword[COORDINATE_BITS : 2 * COORDINATE_BITS], page


class ItemAddresses(wiring.Component):
    """Finds the address of every thread's element. Latency is three cycles, throughput one thread in each cycle.

    Sums and products have full width, so none wraps but the address itself.

    Members
    -------
    walk : ``Out(PixelWalk(pixels))``
        An element is an `ITEM_ELEMENT`; all threads have one.
    program : ``In(PROGRAM)``
    access : ``In(ACCESS)``
        Dwords `base` + (index + burst) * (`element` + 1) of the item.
    burst : ``In(4)``
        The number of the register among those of the instruction.
    streams : ``In(1)``
        The item is a vertex of stream `stream`, else one of the ring that the program writes.
    stream : ``In(range(STREAMS))``
    index : ``In(32)``
        The index of the thread that is wanted.
    thread : ``In(range(threads))``
        Its number.
    streamed, number : ``In(1)``, ``In(32)``
        Whether its vertex is streamed out, and the vertex's number among those that are.
    """

    def __init__(self, pixels: int, threads: int) -> None:
        super().__init__(
            {
                "walk": Out(PixelWalk(pixels)),
                "program": In(PROGRAM),
                "access": In(ACCESS),
                "burst": In(4),
                "streams": In(1),
                "stream": In(range(STREAMS)),
                "index": In(WORD_BITS),
                "thread": In(range(threads)),
                "number": In(WORD_BITS),
                "streamed": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        access, draw = self.access, self.program.draw
        count_walk(m, self.walk, _STEPS)
        stream = Array(Value.cast(each) for each in draw.streams)[self.stream]
        chosen = data.View(draw.streams[0].shape(), stream)
        origin = Mux(self.streams, chosen.origin, draw.ring.dword)
        size = Mux(self.streams, chosen.stride, draw.ring.item)
        steps, number, exists = Signal(_INDEX_BITS), Signal(WORD_BITS), Signal()
        offset, product, exists_later = Signal(_OFFSET_BITS), Signal(DWORD_BITS), Signal()
        found = data.View(ITEM_ELEMENT, Value.cast(self.walk.element)[: ITEM_ELEMENT.size])
        m.d.sync += [
            steps.eq(self.burst + Mux(access.indexed, self.index, 0)),
            number.eq(Mux(self.streams, self.number, self.thread)),
            exists.eq(~self.streams | (self.streamed & chosen.enabled)),
            offset.eq(access.base + steps * (access.element + 1)),
            product.eq(number * size),
            exists_later.eq(exists),
            found.dword.eq(origin + product + offset),
            *(found.inside[channel].eq(exists_later & (offset + channel < size)) for channel in range(CHANNELS)),
        ]
        return m
