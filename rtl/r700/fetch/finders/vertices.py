"""Vertex buffers: the addresses of the elements that the vertices of a wavefront fetch.

Source: docs/draws.md, vertex fetches.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.shading import BUFFERS, VERTEX_BUFFER, VERTEX_BUFFER_WRITE
from ctm.rtl.isa.limits import COORDINATE_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.border.walk import PixelWalk, count_walk
from ctm.rtl.r700.fetch.operation import BUFFER_FETCH
from ctm.rtl.r700.fetch.vertex_format import SIZES

VERTEX_ELEMENT = data.StructLayout({"address": WORD_BITS, "inside": 1})
"""The byte of an element in memory, and whether it lies in its buffer as a whole."""

_STEPS = 4
_BYTE_BITS = (WORD_BYTES - 1).bit_length()


class VertexAddresses(wiring.Component):
    """Finds the address of every vertex's element. Latency is four cycles, throughput one vertex in each cycle.

    It holds the vertex buffers and rings as they were last written.

    Sums and products have full width, so none wraps but the address itself.

    Members
    -------
    walk : ``Out(PixelWalk(pixels))``
        An element is a `VERTEX_ELEMENT`; all vertices have one.
    write : ``In(VERTEX_BUFFER_WRITE)``
        A vertex buffer or ring that a command sets.
    fetch : ``In(BUFFER_FETCH)``
    first_instance : ``In(32)``
    index : ``In(32)``
        The index of the vertex that is wanted.
    """

    def __init__(self, pixels: int) -> None:
        super().__init__(
            {
                "walk": Out(PixelWalk(pixels)),
                "write": In(VERTEX_BUFFER_WRITE),
                "fetch": In(BUFFER_FETCH),
                "first_instance": In(WORD_BITS),
                "index": In(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        fetch = self.fetch
        count_walk(m, self.walk, _STEPS)
        m.submodules.buffers = buffers = DistributedRam(VERTEX_BUFFER, BUFFERS)
        buffers.write(m, self.write.number, self.write.buffer, self.write.valid)
        buffer = buffers.read(m, fetch.buffer)
        index = Signal(WORD_BITS + 1)
        entry = data.View(VERTEX_ELEMENT, Value.cast(self.walk.element)[: VERTEX_ELEMENT.size])
        product, byte = Signal(2 * WORD_BITS + 1), Signal(2 * WORD_BITS + 2)
        size = (fetch.channels << fetch.element.size)[:5]
        aligned = Array(Cat(Const(0, low), byte[low:WORD_BITS]) for low in range(len(SIZES)))[fetch.element.size]
        m.d.sync += [
            index.eq(self.index + Mux(fetch.by_instance, self.first_instance, 0)),
            product.eq(index * buffer.stride),
            byte.eq(product + fetch.offset),
            entry.address.eq(buffer.address + aligned),
            entry.inside.eq(byte + size <= buffer.bytes),
        ]
        return m


def word_of(address: Value, channel: Value, size: Value) -> tuple[Value, Value, Value, Value]:
    """Column, row and page of the word that has a channel of an element, and the channel's first byte in it."""
    byte = address + (channel << size)
    word = byte[_BYTE_BITS:WORD_BITS]
    x, y = word[:COORDINATE_BITS], word[COORDINATE_BITS : 2 * COORDINATE_BITS]
    return x, y, word[2 * COORDINATE_BITS :], byte[:_BYTE_BITS]
