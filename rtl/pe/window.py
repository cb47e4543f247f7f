"""The part of memory that an image may occupy, word by word."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS
from ctm.rtl.isa.status import Status

OFFSET_BITS = WORD_BITS + 2
"""Room for the sum of two numbers of an image, so that none wraps."""
_COUNT_BITS = WORD_BITS - 1
_WORD_BYTES = WORD_BITS // 8
_LINE_WORDS = LINE_BITS // WORD_BITS
_AHEAD = 3

EXTENT = data.StructLayout({"valid": 1, "offset": OFFSET_BITS, "count": _COUNT_BITS})
"""Words from a byte offset on."""


class ImageWindow(wiring.Component):
    """Reads words of an image, a word each cycle from the line that it holds, and nothing beyond `limit` bytes.

    With a line it asks for the three behind it, because parts of an image follow each other. A line that is not needed
    is dropped, refused or not.

    Members
    -------
    base : ``In(32)``
        Where the image is, a multiple of 2 KiB. Addresses wrap.
    forget : ``In(1)``
        Do not use the line that is held; only while no extent is read.
    finish : ``In(1)``
        There are no more extents; high until `drained`.
    drained : ``Out(1)``
        No line is under way.
    extent : ``In(EXTENT)``
        Words to be read; only behind the `done` of those before.
    word : ``Out({valid, index, word})``
        The extent's words in order.
    done : ``Out(1)``
        All words have been given, or it has failed.
    status : ``Out(Status)``
        With `done`: OK; BAD_EXECUTABLE if the offset is not a multiple of 4 or the extent goes beyond the limit,
        nothing is read then; BUS_ERROR if memory refused one of its lines.
    address : ``Out(32)``
        Where the extent begins.
    lines : ``Out(LineClient())``
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        words = limit // _WORD_BYTES
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "forget": In(1),
                "finish": In(1),
                "drained": Out(1),
                "extent": In(EXTENT),
                "word": Out(data.StructLayout({"valid": 1, "index": range(words), "word": WORD_BITS})),
                "done": Out(1),
                "status": Out(Status),
                "address": Out(ADDRESS_BITS),
                "lines": Out(LineClient()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        limit_words = self._limit // _WORD_BYTES
        lines = limit_words // _LINE_WORDS
        extent, request, response = self.extent, self.lines.request, self.lines.response
        offset, count = Signal(OFFSET_BITS), Signal(_COUNT_BITS)
        place, left, is_bad = Signal(range(limit_words + 1)), Signal(range(limit_words + 1)), Signal()
        line = place // _LINE_WORDS
        held, held_line, is_held = Signal(LINE_BITS), Signal.like(line, name="held_line"), Signal()
        # The next line to be asked for, and the next one to come.
        asked, coming, asking = Signal(range(lines + 1)), Signal(range(lines + 1)), Signal()
        m.d.comb += [
            self.word.word.eq(held.word_select(place[: (_LINE_WORDS - 1).bit_length()], WORD_BITS)),
            request.valid.eq(asking),
            request.payload.line.eq((self.base >> LINE_OFFSET_BITS) + asked),
            request.payload.uncached.eq(1),
            self.drained.eq((asked == coming) & ~asking),
            response.ready.eq(self.finish),
        ]
        with m.If(asking & request.ready):
            m.d.sync += [asking.eq(0), asked.eq(asked + 1)]
        with m.If(response.valid & response.ready):
            m.d.sync += coming.eq(coming + 1)
        with m.If(self.word.valid):
            m.d.sync += [place.eq(place + 1), left.eq(left - 1), self.word.index.eq(self.word.index + 1)]
        with m.If(self.forget):
            m.d.sync += is_held.eq(0)

        with m.FSM():
            with m.State("idle"):
                m.d.sync += [offset.eq(extent.offset), count.eq(extent.count)]
                with m.If(extent.valid):
                    m.next = "check"
            with m.State("check"):
                is_whole, end = offset % _WORD_BYTES == 0, offset + count * _WORD_BYTES
                m.d.sync += [
                    place.eq(offset // _WORD_BYTES),
                    left.eq(count),
                    is_bad.eq(~is_whole | (end > self._limit)),
                    self.word.index.eq(0),
                    self.address.eq(self.base + offset),
                ]
                m.next = "read"
            with m.State("read"):
                with m.If(is_bad | (left == 0)):
                    m.d.comb += self.done.eq(1)
                    with m.If(is_bad):
                        m.d.comb += self.status.eq(Status.BAD_EXECUTABLE)
                    m.next = "idle"
                with m.Elif(is_held & (held_line == line)):
                    m.d.comb += self.word.valid.eq(1)
                with m.Else():
                    m.next = "seek"
            with m.State("seek"):
                with m.If((coming <= line) & (line <= asked)):
                    m.next = "wait"
                with m.Elif(self.drained):
                    m.d.sync += [asked.eq(line), coming.eq(line)]
                    m.next = "wait"
                with m.Else():
                    m.d.comb += response.ready.eq(1)
            with m.State("wait"):
                m.d.comb += response.ready.eq(1)
                with m.If(~asking & (asked <= line + _AHEAD) & (asked != lines)):
                    m.d.sync += asking.eq(1)
                with m.If(response.valid & (coming == line)):
                    m.d.sync += [held.eq(Value.cast(response.payload.bits)), held_line.eq(line)]
                    m.d.sync += is_held.eq(~response.payload.refused)
                    m.next = "read"
                    with m.If(response.payload.refused):
                        m.d.comb += [self.done.eq(1), self.status.eq(Status.BUS_ERROR)]
                        m.next = "idle"
        return m
