"""Reads an image word by word."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_BITS, LINE_WORDS, LineClient
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.pe.prefetch import LinePrefetch

OFFSET_BITS = WORD_BITS + 2
"""Wide enough for the sum of two numbers of an image."""
_COUNT_BITS = WORD_BITS - 1

EXTENT = data.StructLayout({"valid": 1, "offset": OFFSET_BITS, "count": _COUNT_BITS})
"""Words from a byte offset on."""


def word_layout(limit: int) -> data.StructLayout:
    """A word of an extent, and its index."""
    return data.StructLayout({"valid": 1, "index": range(limit // WORD_BYTES), "word": WORD_BITS})


def keep(m: Module, words: Value, word: data.View) -> None:
    """Keep the words of an extent as they come, word 0 lowest."""
    with m.If(word.valid):
        m.d.sync += words.eq(Cat(words[WORD_BITS:], word.word))


class WindowClient(Interface):
    """The port of a reader of an image's words, seen from the reader.

    Members
    -------
    extent : ``Out(EXTENT)``
        Words to be read; only after the previous `done`. It is sampled in its first cycle.
    word : ``In(word_layout(limit))``
        The extent's words in order.
    done : ``In(1)``
        All words have been given, or it has failed.
    status : ``In(Status)``
        With `done`: OK; BAD_EXECUTABLE if the offset is not a multiple of 4 or the extent goes beyond the limit,
        nothing is read then; BUS_ERROR if one of its lines has an error.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(
            {
                "extent": Out(EXTENT),
                "word": In(word_layout(limit)),
                "done": In(1),
                "status": In(Status),
            }
        )


class ImageWindow(wiring.Component):
    """Reads words of an image, a word each cycle from the line that it holds, and nothing beyond `limit` bytes.

    Members
    -------
    base : ``In(32)``
        The image's address, a multiple of 2 KiB. Addresses wrap.
    invalidate : ``In(1)``
        Invalidate the line that is held; only while no extent is read.
    finish : ``In(1)``
        There are no more extents; high until `drained`.
    drained : ``Out(1)``
        No line is in flight.
    client : ``In(WindowClient(limit))``
    address : ``Out(32)``
        The last extent's address.
    lines : ``Out(LineClient(slice_bits))``
    """

    def __init__(self, limit: int, slice_bits: int = LINE_BITS) -> None:
        self._limit, self._slice_bits = limit, slice_bits
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "invalidate": In(1),
                "finish": In(1),
                "drained": Out(1),
                "client": In(WindowClient(limit)),
                "address": Out(ADDRESS_BITS),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = self._limit // WORD_BYTES
        m.submodules.prefetch = prefetch = LinePrefetch(words // LINE_WORDS, self._slice_bits)
        wiring.connect(m, prefetch.lines, wiring.flipped(self.lines))
        client, word = self.client, self.client.word
        offset, count = Signal(OFFSET_BITS), Signal(_COUNT_BITS)
        position, remaining, is_bad = Signal(range(words + 1)), Signal(range(words + 1)), Signal()
        line = position // LINE_WORDS
        held_line, is_held = Signal.like(line, name="held_line"), Signal()
        m.d.comb += [
            prefetch.base.eq(self.base),
            prefetch.line.eq(line),
            prefetch.drop.eq(self.finish),
            self.drained.eq(prefetch.drained),
            word.word.eq(self._held(m, prefetch, position[: (LINE_WORDS - 1).bit_length()])),
        ]
        with m.If(self.invalidate):
            m.d.sync += is_held.eq(0)

        def give() -> None:
            m.d.comb += word.valid.eq(1)
            m.d.sync += [position.eq(position + 1), remaining.eq(remaining - 1), word.index.eq(word.index + 1)]

        def end(status: Status | Value) -> None:
            m.d.comb += [client.done.eq(1), client.status.eq(status)]
            m.next = "idle"

        with m.FSM():
            with m.State("idle"):
                m.d.sync += [offset.eq(client.extent.offset), count.eq(client.extent.count)]
                with m.If(client.extent.valid):
                    m.next = "check"
            with m.State("check"):
                is_whole, end_offset = offset % WORD_BYTES == 0, offset + count * WORD_BYTES
                m.d.sync += [position.eq(offset // WORD_BYTES), remaining.eq(count), word.index.eq(0)]
                m.d.sync += [is_bad.eq(~is_whole | (end_offset > self._limit)), self.address.eq(self.base + offset)]
                m.next = "read"
            with m.State("read"):
                with m.If(is_bad):
                    end(Status.BAD_EXECUTABLE)
                with m.Elif(remaining == 0):
                    end(Status.OK)
                with m.Elif(is_held & (held_line == line)):
                    give()
                with m.Else():
                    m.next = "seek"
            with m.State("seek"):
                m.d.comb += prefetch.aim.eq(1)
                with m.If(prefetch.aimed):
                    m.next = "wait"
            with m.State("wait"):
                m.d.comb += prefetch.take.eq(1)
                with m.If(prefetch.found & prefetch.last):
                    m.d.sync += [held_line.eq(line), is_held.eq(~prefetch.error)]
                    m.next = "read"
                    with m.If(prefetch.error):
                        end(Status.BUS_ERROR)
        return m

    def _held(self, m: Module, prefetch: LinePrefetch, number: Value) -> Value:
        """A word of the line that is held: a register, or, where it comes in slices, a row for each of them."""
        if self._slice_bits == LINE_BITS:
            held = Signal(LINE_BITS)
            with m.If(prefetch.found):
                m.d.sync += held.eq(prefetch.bits)
            return held.word_select(number, WORD_BITS)
        inside = (self._slice_bits // WORD_BITS - 1).bit_length()
        m.submodules.held = rows = DistributedRam(self._slice_bits, LINE_BITS // self._slice_bits)
        rows.write(m, prefetch.slice, prefetch.bits, prefetch.found)
        row: Value = rows.read(m, number[inside:])
        return row.word_select(number[:inside], WORD_BITS)
