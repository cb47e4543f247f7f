"""Reads a command buffer ahead of its use."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import COMMAND_BUFFER
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LINE_RESPONSE, LineClient
from ctm.rtl.isa.limits import WORD_BITS

_LINES = 8
"""Lines that are asked for or waiting: enough for one word per cycle 100 cycles from memory."""
_WORDS = LINE_BITS // WORD_BITS
_BYTE_BITS = (WORD_BITS // 8 - 1).bit_length()

WORD = data.StructLayout({"word": WORD_BITS, "refused": 1})
"""A word of a command buffer; with `refused` memory did not give it."""


class CommandFetcher(wiring.Component):
    """Gives the words of a command buffer in order, one in each cycle.

    It asks for the lines that the buffer needs and for no others, at most eight before their words are taken. Addresses
    wrap. Of the buffer's last line all words come; who takes them must count. A word comes two cycles behind its line.

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
        Always taken.
    """

    begin: In(data.StructLayout({"valid": 1, "buffer": COMMAND_BUFFER}))
    drop: In(1)
    idle: Out(1)
    words: Out(stream.Signature(WORD))
    lines: Out(LineClient())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.lines = lines = SyncFIFO(width=LINE_RESPONSE.size, depth=_LINES)
        dropping, held = Signal(), Signal(range(_LINES + 1))
        asks, comes = (
            self.lines.request.valid & self.lines.request.ready,
            self.lines.response.valid & self.lines.response.ready,
        )
        m.d.sync += held.eq(held + asks - lines.r_en)
        m.d.comb += [
            self.lines.response.ready.eq(lines.w_rdy),
            lines.w_en.eq(comes),
            lines.w_data.eq(self.lines.response.payload),
            self.idle.eq(~self.lines.request.valid & (held == 0)),
        ]
        left = self._request(m, held)
        last = self._deliver(m, lines, dropping)
        m.d.comb += lines.r_en.eq(lines.r_rdy & (last | dropping))
        with m.If(self.drop):
            # A request that has been offered stays.
            m.d.sync += [
                dropping.eq(1),
                left.eq(self.lines.request.valid & ~self.lines.request.ready),
                self.words.valid.eq(0),
            ]
        with m.If(self.begin.valid):
            m.d.sync += dropping.eq(0)
        return m

    def _request(self, m: Module, held: Value) -> Value:
        """Ask for the buffer's lines in order; the number that is left."""
        buffer, request = self.begin.buffer, self.lines.request
        left, first = Signal(WORD_BITS - (_WORDS - 1).bit_length() + 1), buffer.address[_BYTE_BITS:LINE_OFFSET_BITS]
        line = Signal(LINE_ADDRESS_BITS)
        m.d.comb += [
            request.valid.eq((left != 0) & (held != _LINES)),
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

    def _deliver(self, m: Module, lines: SyncFIFO, dropping: Value) -> Value:
        """Take the words out of the oldest line; whether its last one goes."""
        place, line, words = Signal(range(_WORDS)), LINE_RESPONSE(lines.r_data), self.words
        goes = Signal()
        m.d.comb += goes.eq(lines.r_rdy & ~dropping & (~words.valid | words.ready))
        with m.If(goes):
            m.d.sync += [
                words.payload.word.eq(Value.cast(line.bits).word_select(place, WORD_BITS)),
                words.payload.refused.eq(line.refused),
                place.eq(place + 1),
            ]
        m.d.sync += words.valid.eq(Mux(goes, 1, words.valid & ~words.ready))
        with m.If(self.begin.valid):
            m.d.sync += place.eq(self.begin.buffer.address[_BYTE_BITS:LINE_OFFSET_BITS])
        return goes & (place == _WORDS - 1)
