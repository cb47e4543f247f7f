"""The bytes that a wavefront writes: of each lane's element, and of all elements in one line."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, has_pair
from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, LINE_OFFSET_BITS
from ctm.rtl.config import COMBINATIONAL, CacheConfig
from ctm.rtl.isa.limits import BYTE_BITS, CHANNELS, COORDINATE_BITS
from ctm.rtl.mc.address import ElementAddress
from ctm.rtl.mc.buffer import formats_by_size
from ctm.rtl.mc.elements import ELEMENT_BYTES, ElementBytes

_BLOCKS = LINE_BYTES // ELEMENT_BYTES
_BLOCK_BITS = (ELEMENT_BYTES - 1).bit_length()


def written_bits(lanes: int, slice_bits: int) -> int:
    """The slices in which lines are written: one element's, if no others are written with it, or whole lines."""
    element = ELEMENT_BYTES * BYTE_BITS
    return element if lanes == 1 and slice_bits <= element else LINE_BITS


ELEMENT = data.StructLayout({"offset": LINE_OFFSET_BITS, "bytes": ELEMENT_BYTES * BYTE_BITS, "mask": ELEMENT_BYTES})
"""A lane's element: its offset in its line, its bytes, and which of them are written.

The bytes repeat from the element's end on. Elements are aligned to their size, so the 16 bytes need no shift.
"""


class WavefrontElements(wiring.Component):
    """Converts a wavefront's words to elements. Combinational.

    Members
    -------
    buffer : ``In(BUFFER)``
    x, y, words, mask : ``In``, for each lane
        Elements outside the buffer are not written.
    lines : ``Out(ArrayLayout(26, lanes))``
        The line of each element.
    elements : ``Out(ArrayLayout(ELEMENT, lanes))``
    writes : ``Out(lanes)``
        Whether any byte is written.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__(
            {
                "buffer": In(BUFFER),
                "x": In(data.ArrayLayout(COORDINATE_BITS + 1, lanes)),
                "y": In(data.ArrayLayout(COORDINATE_BITS, lanes)),
                "words": In(data.ArrayLayout(WORDS, lanes)),
                "mask": In(data.ArrayLayout(CHANNELS, lanes)),
                "lines": Out(data.ArrayLayout(LINE_ADDRESS_BITS, lanes)),
                "elements": Out(data.ArrayLayout(ELEMENT, lanes)),
                "writes": Out(lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        for lane in range(self._lanes):
            m.submodules[f"address_{lane}"] = address = ElementAddress()
            m.submodules[f"bytes_{lane}"] = bytes_ = ElementBytes(COMBINATIONAL)
            x, y, element = self.x[lane], self.y[lane], self.elements[lane]
            exists = has_pair(self.buffer, x, y)
            m.d.comb += [
                address.buffer.eq(self.buffer),
                address.x.eq(x),
                address.y.eq(y),
                bytes_.words.eq(self.words[lane]),
                bytes_.mask.eq(Mux(exists, self.mask[lane], 0)),
                bytes_.format.eq(self.buffer.format),
                self.lines[lane].eq(address.address[LINE_OFFSET_BITS:]),
                element.offset.eq(address.address[:LINE_OFFSET_BITS]),
                element.bytes.eq(_repeated(m, self.buffer, bytes_.bytes)),
                element.mask.eq(bytes_.byte_mask),
                self.writes[lane].eq(bytes_.byte_mask.any()),
            ]
        return m


def element_slice(m: Module, element: data.View, line: data.View) -> None:
    """Set a slice of a line to an element, which is all that is written of it; not the line's number."""
    m.d.comb += [
        line.slice.eq(element.offset[_BLOCK_BITS:]),
        line.bits.eq(element.bytes),
        line.mask.eq(_in_block(element, element.mask)),
    ]


class LineMerge(wiring.Component):
    """Merges elements that are in the same line; on the same byte the higher lane wins. Combinational.

    Members
    -------
    elements : ``In(ArrayLayout(ELEMENT, lanes))``
    chosen : ``In(lanes)``
        Lanes whose element is in the line.
    bits, mask : ``Out(512)``, ``Out(64)``
        The line's bytes, and which of them are written.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__(
            {
                "elements": In(data.ArrayLayout(ELEMENT, lanes)),
                "chosen": In(lanes),
                "bits": Out(LINE_BITS),
                "mask": Out(CacheConfig.LINE_BYTES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        elements, chosen = self.elements, self.chosen
        blocks: list[list[tuple[Value, Value]]] = [[] for _ in range(_BLOCKS)]
        for lane, element in enumerate(elements):
            mask = Signal(ELEMENT_BYTES, name=f"mask_{lane}")
            # Elements are aligned to their size: two have the same offset, or no byte in common.
            later = (
                Mux(chosen[other] & (elements[other].offset == element.offset), elements[other].mask, 0)
                for other in range(lane + 1, self._lanes)
            )
            m.d.comb += mask.eq(Mux(chosen[lane], element.mask & ~reduce(or_, later, 0), 0))
            shifted = Signal.like(mask)
            m.d.comb += shifted.eq(_in_block(element, mask))
            for block, contributions in enumerate(blocks):
                own = Signal.like(mask, name=f"own_{lane}_{block}")
                m.d.comb += own.eq(shifted & (element.offset[_BLOCK_BITS:] == block).replicate(len(shifted)))
                contributions.append((element.bytes & Cat(bit.replicate(BYTE_BITS) for bit in own), own))
        m.d.comb += [
            self.bits.eq(Cat(reduce(or_, (bits for bits, _ in block)) for block in blocks)),
            self.mask.eq(Cat(reduce(or_, (shifted for _, shifted in block)) for block in blocks)),
        ]
        return m


def _in_block(element: data.View, mask: Value) -> Value:
    """The bytes of an element in a mask, in its block of a line."""
    inside: Value = mask << (element.offset[1:_BLOCK_BITS] << 1)
    return inside[:ELEMENT_BYTES]


def _repeated(m: Module, buffer: data.View, bytes_: Value) -> Signal:
    """The bytes of an element, repeated."""
    repeated = Signal(len(bytes_), name="repeated")
    with m.Switch(buffer.format):
        for size, codes in formats_by_size().items():
            with m.Case(*codes):
                m.d.comb += repeated.eq(bytes_[: size * BYTE_BITS].replicate(ELEMENT_BYTES // size))
    return repeated
