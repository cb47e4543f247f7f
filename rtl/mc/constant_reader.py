"""Reads constants from memory.

Source: CTM Guide pp. 6-8; docs/isa.md has the commands that set their addresses.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import LINE_BEATS, ConstantBank, ConstantClient
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.limits import ADDRESS_BITS

_BASE_BITS = ADDRESS["base"].width
_BEAT_BITS = LINE_BITS // LINE_BEATS


class ConstantReader(wiring.Component):
    """Reads lines of constants, in order, and gives each as beats of four words, the lowest first.

    Combinational but for the number of the beat: requests and beats add no cycle, one beat is given in each cycle. A
    line comes in slices of `slice_bits`, a multiple of a beat's 128 bits. Addresses wrap around.

    Members
    -------
    bases : ``In(21)`` for each bank
        Addresses in units of 2 KiB; constant while a request is offered.
    client : ``In(ConstantClient())``
    lines : ``Out(LineClient(slice_bits))``
    """

    def __init__(self, slice_bits: int = LINE_BITS) -> None:
        self._beats = slice_bits // _BEAT_BITS
        super().__init__(
            {
                "bases": In(data.ArrayLayout(_BASE_BITS, len(ConstantBank))),
                "client": In(ConstantClient()),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response, line = self.client.request, self.client.response, self.lines.response
        beat = Signal(range(self._beats))
        base = Array(self.bases)[Value.cast(request.payload.bank)]
        start = Cat(Const(0, ADDRESS_BITS - _BASE_BITS - LINE_OFFSET_BITS), base)
        m.d.comb += [
            self.lines.request.valid.eq(request.valid),
            request.ready.eq(self.lines.request.ready),
            self.lines.request.payload.line.eq((start + request.payload.line)[:LINE_ADDRESS_BITS]),
            response.valid.eq(line.valid),
            Value.cast(response.payload.words).eq(line.payload.bits.word_select(beat, _BEAT_BITS)),
            response.payload.error.eq(line.payload.error),
            line.ready.eq(response.ready & (beat == self._beats - 1)),
        ]
        with m.If(response.valid & response.ready):
            m.d.sync += beat.eq(Mux(line.ready, 0, beat + 1))
        return m
