"""The bytes that a wavefront writes: of each lane's element, and of all elements in one line."""

from functools import reduce
from operator import or_

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, has_pair
from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, LINE_OFFSET_BITS
from ctm.rtl.config import COMBINATIONAL, CacheConfig
from ctm.rtl.isa.limits import BYTE_BITS, CHANNELS, COORDINATE_BITS
from ctm.rtl.lib.encoding import highest_one_index
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

    Bytes that are not written have any value.

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
        # The lanes that write each byte of each block, and of these the highest one's number: it is a multiplexer's
        # select, which takes a third fewer LUT4s than words that are masked and combined.
        writes: list[list[Signal]] = [[] for _ in range(_BLOCKS)]
        for lane, element in enumerate(elements):
            shifted = _in_block(element, element.mask)
            for block, lanes in enumerate(writes):
                here = chosen[lane] & (element.offset[_BLOCK_BITS:] == block)
                own = Signal(ELEMENT_BYTES, name=f"own_{lane}_{block}")
                m.d.comb += own.eq(shifted & here.replicate(ELEMENT_BYTES))
                lanes.append(own)
        bytes_ = [
            Array(element.bytes.word_select(byte, BYTE_BITS) for element in elements) for byte in range(ELEMENT_BYTES)
        ]
        m.d.comb += [
            self.bits.eq(
                Cat(
                    words[highest_one_index(Cat(own[byte] for own in lanes))]
                    for lanes in writes
                    for byte, words in enumerate(bytes_)
                )
            ),
            self.mask.eq(Cat(reduce(or_, lanes) for lanes in writes)),
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
