"""Selects pixels of the source of a fetch or an export: a pass, a quad, a pixel.

One unit at a time reads passes or single pixels, so all of them share the multiplexers.

Source: R700-Family Instruction Set Architecture, section 3.4 and chapter 5 (selects); docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.isa.limits import CHANNELS, QUAD, WORD_BITS
from ctm.rtl.r700.border.registers import slice_words
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.writing import selected

QUAD_WORDS = data.ArrayLayout(data.ArrayLayout(WORD_BITS, QUAD), CHANNELS)
"""The words of a quad, as [channel][pixel]."""
SELECTS = data.ArrayLayout(3, CHANNELS)
"""The component, by `ComponentSelect`, that each channel gets."""


def pass_words_layout(lanes: int) -> data.ArrayLayout:
    """The words of a pass, as [channel][lane]."""
    return data.ArrayLayout(data.ArrayLayout(WORD_BITS, lanes), CHANNELS)


class PixelSelection(wiring.Component):
    """Selects a pass of a slice, or a pixel and its quad. Combinational.

    Members
    -------
    source : ``In(ArrayLayout(slice_words(partition), 4))``
        The register, as [channel][pixel].
    by_pixel : ``In(1)``
        Select `pixel`, else `pass_number`; the outputs of the other are undefined.
    pass_number : ``In(partition.slice_pass_bits)``
    pixel : ``In(range(partition.slice))``
    selects : ``In(SELECTS)``
    words, written : ``Out(pass_words_layout(lanes))``
        The words of the pass; and those that `selects` choose of each pixel's.
    quad, quad_written : ``Out(QUAD_WORDS)``
        The same of the quad of the pixel.
    own : ``Out(WORDS)``
        The words of the pixel.
    """

    def __init__(self, partition: Partition) -> None:
        self._lanes = lanes = partition.lanes
        super().__init__(
            {
                "source": In(data.ArrayLayout(slice_words(partition), CHANNELS)),
                "pass_number": In(partition.slice_pass_bits),
                "by_pixel": In(1),
                "pixel": In(range(partition.slice)),
                "selects": In(SELECTS),
                "words": Out(pass_words_layout(lanes)),
                "written": Out(pass_words_layout(lanes)),
                "quad": Out(QUAD_WORDS),
                "quad_written": Out(QUAD_WORDS),
                "own": Out(WORDS),
            }
        )

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # A block is a pass or a quad, whichever is larger.
        together = max(self._lanes, QUAD)
        pixel = Signal.like(self.pixel, name="selected_pixel")
        first_of_pass = (self.pass_number * self._lanes)[: len(pixel)]
        m.d.comb += pixel.eq(Mux(self.by_pixel, self.pixel, first_of_pass))
        in_block, block = pixel[: (together - 1).bit_length()], pixel[(together - 1).bit_length() :]
        blocks = [Signal(together * WORD_BITS, name=f"block_{channel}") for channel in range(CHANNELS)]
        for words, source in zip(blocks, self.source, strict=True):
            m.d.comb += words.eq(Array(_blocks(Value.cast(source), together))[block])
        for channel, words in enumerate(blocks):
            written = Signal(len(words), name=f"written_{channel}")
            pixels = (Cat(each.word_select(number, WORD_BITS) for each in blocks) for number in range(together))
            m.d.comb += written.eq(Cat(selected(pixel, self.selects[channel]) for pixel in pixels))
            for output, count, value in (
                (self.words, self._lanes, words),
                (self.written, self._lanes, written),
                (self.quad, QUAD, words),
                (self.quad_written, QUAD, written),
            ):
                m.d.comb += Value.cast(output[channel]).eq(_block_at(value, count, in_block))
            own = Array(self.quad[channel][each] for each in range(QUAD))[pixel[:2]]
            m.d.comb += self.own[channel].eq(own)
        return m


def _blocks(words: Value, count: int) -> list[Value]:
    """Words in blocks of `count`."""
    width = count * WORD_BITS
    return [words[first : first + width] for first in range(0, len(words), width)]


def _block_at(words: Value, count: int, index: Value) -> Value:
    """The block of `count` words that has the word with this number."""
    blocks = _blocks(words, count)
    found: Value = Array(blocks)[index[(count - 1).bit_length() :]] if len(blocks) > 1 else words
    return found
