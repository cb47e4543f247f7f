"""What the array loads once: instructions and constants.

Source: CTM Guide pp. 6-8; docs/architecture.md has where constants lie.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LINE_REQUEST, LINE_RESPONSE
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.rtl.mc.lines.cache import LineCache
from ctm.rtl.mc.lines.coalescer import Coalescer, share_layout

_SLOT_BITS = (INSTRUCTION_SLOTS - 1).bit_length()
_WORD_OFFSET_BITS = WORD_BYTES.bit_length() - 1
_PLACE_BITS = LINE_OFFSET_BITS - _WORD_OFFSET_BITS
_BASE_BITS = ADDRESS["base"].width
_LINES = CacheConfig(sets=2, ways=1)

INSTRUCTION_REQUEST = data.StructLayout({"slot": _SLOT_BITS})
INSTRUCTION_RESPONSE = data.StructLayout({"words": data.ArrayLayout(WORD_BITS, INSTRUCTION_WORDS), "refused": 1})


class InstructionReader(wiring.Component):
    """Reads instructions, in order, with up to `outstanding` lines under way.

    An instruction lies in one line or two; neighbours share lines. Nothing is kept: `idle` for a cycle forgets the
    lines.

    Members
    -------
    code : ``In(32)``
        Address of slot 0, a multiple of 4; constant while not idle.
    request : ``In(stream.Signature(INSTRUCTION_REQUEST))``
    response : ``Out(stream.Signature(INSTRUCTION_RESPONSE))``
    line_request : ``Out(stream.Signature(LINE_REQUEST))``
    line_response : ``In(stream.Signature(LINE_RESPONSE, always_ready=True))``
    idle : ``Out(1)``
    """

    def __init__(self, *, outstanding: int) -> None:
        self._outstanding = outstanding
        super().__init__(
            {
                "code": In(ADDRESS_BITS),
                "request": In(stream.Signature(INSTRUCTION_REQUEST)),
                "response": Out(stream.Signature(INSTRUCTION_RESPONSE)),
                "line_request": Out(stream.Signature(LINE_REQUEST)),
                "line_response": In(stream.Signature(LINE_RESPONSE, always_ready=True)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        places = data.ArrayLayout(_PLACE_BITS, INSTRUCTION_WORDS)
        m.submodules.coalescer = coalescer = Coalescer(INSTRUCTION_WORDS, places)
        m.submodules.lines = lines = LineCache(
            _LINES, share_layout(INSTRUCTION_WORDS, places), outstanding=self._outstanding
        )
        connect(m, coalescer.access, lines.access)
        connect(m, lines.line_request, flipped(self.line_request))
        connect(m, flipped(self.line_response), lines.line_response)

        group, first = coalescer.group, Signal(ADDRESS_BITS)
        m.d.comb += [
            group.valid.eq(self.request.valid),
            self.request.ready.eq(group.ready),
            first.eq(self.code + self.request.payload.slot * INSTRUCTION_BYTES),
            group.payload.reads.eq(~0),
        ]
        for word in range(INSTRUCTION_WORDS):
            address = Signal(ADDRESS_BITS, name=f"address_{word}")
            m.d.comb += [
                address.eq(first + word * WORD_BYTES),
                group.payload.lines[word].eq(address[LINE_OFFSET_BITS:]),
                group.payload.passenger[word].eq(address[_WORD_OFFSET_BITS:LINE_OFFSET_BITS]),
            ]

        line, response = lines.result, self.response
        share, whole, refused = line.payload.passenger, Signal(), Signal()
        m.d.comb += [
            line.ready.eq(~whole | response.ready),
            response.valid.eq(whole),
            response.payload.refused.eq(refused),
            self.idle.eq(coalescer.idle & lines.idle & ~whole),
            lines.invalidate.eq(self.idle & ~self.request.valid),
        ]
        taken = line.valid & line.ready
        with m.If(line.ready):
            m.d.sync += whole.eq(line.valid & share.last)
        with m.If(taken):
            # The first line of an instruction is taken when the one before has gone, or is going.
            m.d.sync += refused.eq(line.payload.refused | (refused & ~whole))
        with m.Elif(response.ready):
            m.d.sync += refused.eq(refused & ~whole)
        for word in range(INSTRUCTION_WORDS):
            with m.If(taken & share.channels[word]):
                m.d.sync += response.payload.words[word].eq(
                    line.payload.bits.word_select(share.passenger[word], WORD_BITS)
                )
        return m


class ConstantReader(wiring.Component):
    """Reads lines of constants, in order, and gives each as beats of four words.

    Members
    -------
    bases : ``In(21)`` for each bank
        Addresses in units of 2 KiB; constant while not idle.
    request : ``In(stream)`` of `bank` and `line`
    response : ``Out(stream)`` of `words`, four of them, and `refused`
    line_request : ``Out(stream.Signature(LINE_REQUEST))``
    line_response : ``In(stream.Signature(LINE_RESPONSE))``
    """

    def __init__(self, *, banks: int, line_bits: int, beat_words: int) -> None:
        self._beats = LINE_BITS // WORD_BITS // beat_words
        request = data.StructLayout({"bank": range(banks), "line": line_bits})
        response = data.StructLayout({"words": data.ArrayLayout(WORD_BITS, beat_words), "refused": 1})
        super().__init__(
            {
                "bases": In(data.ArrayLayout(_BASE_BITS, banks)),
                "request": In(stream.Signature(request)),
                "response": Out(stream.Signature(response)),
                "line_request": Out(stream.Signature(LINE_REQUEST)),
                "line_response": In(stream.Signature(LINE_RESPONSE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response, line = self.request, self.response, self.line_response
        beat = Signal(range(self._beats))
        base = Array(self.bases)[request.payload.bank]
        start = Cat(Const(0, ADDRESS_BITS - _BASE_BITS - LINE_OFFSET_BITS), base)
        m.d.comb += [
            self.line_request.valid.eq(request.valid),
            request.ready.eq(self.line_request.ready),
            self.line_request.payload.line.eq((start + request.payload.line)[:LINE_ADDRESS_BITS]),
            response.valid.eq(line.valid),
            Value.cast(response.payload.words).eq(line.payload.bits.word_select(beat, LINE_BITS // self._beats)),
            response.payload.refused.eq(line.payload.refused),
            line.ready.eq(response.ready & (beat == self._beats - 1)),
        ]
        with m.If(response.valid & response.ready):
            m.d.sync += beat.eq(Mux(line.ready, 0, beat + 1))
        return m
