"""Reads a command buffer ahead of its use."""

from amaranth import Cat, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import COMMAND_BUFFER
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.isa.limits import WORD_BITS

_LINES, _ROOM = 8, 16
"""Lines that are under way at most, enough for one word per cycle 100 cycles from memory; and whose words may wait."""
_WORDS = LINE_BITS // WORD_BITS
_BYTE_BITS = (WORD_BITS // 8 - 1).bit_length()

WORD = data.StructLayout({"word": WORD_BITS, "error": 1})
"""A word of a command buffer; with `error` memory did not give it."""


class CommandFetcher(wiring.Component):
    """Gives the words of a command buffer in order, one in each cycle.

    It asks for the lines that the buffer needs and for no others, at most eight at a time. There is room for their
    words, so that a line that comes is taken whether anybody takes words or not. Addresses wrap. Of the buffer's last
    line all words come; who takes them must count. A word comes two cycles behind its line.

    Members
    -------
    begin : ``In({valid, buffer})``
        Another buffer, of at least one word; only while `idle`.
    drop : ``In(1)``
        Forget the buffer; what memory still answers is thrown away.
    idle : ``Out(1)``
        Nothing is under way or waiting.
    words : ``Out(stream.Signature(WORD))``
    lines : ``Out(LineClient())``
        A line is taken in as many cycles as it has words.
    """

    begin: In(data.StructLayout({"valid": 1, "buffer": COMMAND_BUFFER}))
    drop: In(1)
    idle: Out(1)
    words: Out(stream.Signature(WORD))
    lines: Out(LineClient())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response = self.lines.request, self.lines.response
        dropping, coming, place = Signal(), Signal(range(_LINES + 1)), Signal(range(_WORDS))
        # Words fit block RAM; whole lines in distributed memory would take 774 LUTs.
        ahead = SyncFIFOBuffered(width=WORD.size, depth=_ROOM * _WORDS)
        m.submodules.ahead = ResetInserter(dropping)(ahead)
        asks, ends = request.valid & request.ready, response.valid & response.ready
        word = Value.cast(response.payload.bits).word_select(place, WORD_BITS)
        m.d.sync += coming.eq(coming + asks - ends)
        m.d.comb += [
            response.ready.eq(dropping | (place == _WORDS - 1)),
            ahead.w_en.eq(response.valid & ~dropping),
            ahead.w_data.eq(Cat(word, response.payload.error)),
            ahead.r_en.eq(self.words.ready),
            self.words.valid.eq(ahead.r_rdy & ~dropping),
            Value.cast(self.words.payload).eq(ahead.r_data),
        ]
        left = self._request(m, (coming != _LINES) & (ahead.level <= (_ROOM - _LINES) * _WORDS))
        m.d.comb += self.idle.eq((left == 0) & (coming == 0) & (ahead.level == 0))
        with m.If(ahead.w_en):
            m.d.sync += place.eq(place + 1)
        with m.If(self.drop):
            # A request that has been offered stays.
            m.d.sync += [dropping.eq(1), left.eq(request.valid & ~request.ready)]
        with m.If(self.begin.valid):
            m.d.sync += [dropping.eq(0), place.eq(self.begin.buffer.address[_BYTE_BITS:LINE_OFFSET_BITS])]
        return m

    def _request(self, m: Module, credit: Value) -> Value:
        """Ask for the buffer's lines in order; the number that is left."""
        buffer, request = self.begin.buffer, self.lines.request
        left, first = Signal(WORD_BITS - (_WORDS - 1).bit_length() + 1), buffer.address[_BYTE_BITS:LINE_OFFSET_BITS]
        line, offered = Signal(LINE_ADDRESS_BITS), Signal()
        # What has been offered stays: nothing can take its room meanwhile. That it is known from the cycle before keeps
        # the ways through the arbiters of memory's readers short.
        m.d.sync += offered.eq(Mux(request.valid, ~request.ready, (left != 0) & credit & ~self.drop))
        m.d.comb += [
            request.valid.eq(offered),
            request.payload.line.eq(line),
            request.payload.uncached.eq(1),
        ]
        with m.If(request.valid & request.ready):
            m.d.sync += [left.eq(left - 1), line.eq(line + 1)]
        with m.If(self.begin.valid):
            m.d.sync += [
                left.eq((buffer.dwords + first + _WORDS - 1) >> (_WORDS - 1).bit_length()),
                line.eq(buffer.address[LINE_OFFSET_BITS:]),
            ]
        return left
