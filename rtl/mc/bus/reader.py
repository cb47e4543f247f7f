"""Lines read over one memory port."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS
from ctm.rtl.mc.bus.axi import BURST, is_refusal, line_beats, read_beat_layout


def tagged_request_layout(tag: ShapeLike) -> data.StructLayout:
    """A line that is wanted; the tag comes back with it."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "tag": tag})


def tagged_response_layout(tag: ShapeLike) -> data.StructLayout:
    """A line; with `refused` its bits mean nothing."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "bits": LINE_BITS, "refused": 1, "tag": tag})


class BusReader(wiring.Component):
    """Reads lines, one burst each, in order, with up to `outstanding` bursts under way.

    The burst is offered in the cycle behind the request, one in each cycle. A line is offered in the cycle behind its
    last beat; a beat is taken in each cycle unless a whole line waits for the one before it to be taken. A line of
    which any beat is answered with an error is refused.

    What this holds is not lost by a soft reset: with `drain` no request is taken and answers are dropped, until
    `quiet` says that no burst is under way.

    Members
    -------
    request : ``In(stream.Signature(tagged_request_layout(tag)))``
    response : ``Out(stream.Signature(tagged_response_layout(tag)))``
    ar, r : the port's channels
    drain : ``In(1)``
    quiet : ``Out(1)``
    """

    def __init__(self, tag: ShapeLike, *, data_bits: int, outstanding: int) -> None:
        self._data_bits, self._outstanding = data_bits, outstanding
        self._entry = tagged_request_layout(tag)
        super().__init__(
            {
                "request": In(stream.Signature(self._entry)),
                "response": Out(stream.Signature(tagged_response_layout(tag))),
                "ar": Out(stream.Signature(BURST)),
                "r": In(stream.Signature(read_beat_layout(data_bits))),
                "drain": In(1),
                "quiet": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        beats = line_beats(self._data_bits)
        m.submodules.underway = underway = SyncFIFOBuffered(width=self._entry.size, depth=self._outstanding)
        request, ar = self.request, self.ar
        free = ~ar.valid | ar.ready
        m.d.comb += [
            request.ready.eq(free & underway.w_rdy & ~self.drain),
            underway.w_en.eq(request.valid & free & ~self.drain),
            underway.w_data.eq(request.payload),
            self.quiet.eq((underway.level == 0) & ~ar.valid),
        ]
        with m.If(free):
            m.d.sync += [
                ar.valid.eq(request.valid & request.ready),
                ar.payload.address.eq(Cat(Const(0, LINE_OFFSET_BITS), request.payload.line)),
                ar.payload.length.eq(beats - 1),
            ]

        r, response = self.r, self.response
        gathered, refused = Signal(LINE_BITS, reset_less=True), Signal()
        taken = ~response.valid | response.ready | self.drain
        ends = r.valid & r.ready & r.payload.last
        entry = data.View(self._entry, underway.r_data)
        # The last beat goes straight into the line that is offered.
        line = Cat(gathered[self._data_bits :], r.payload.bits)
        m.d.comb += [r.ready.eq(underway.r_rdy & (taken | ~r.payload.last)), underway.r_en.eq(ends)]
        with m.If(r.valid & r.ready):
            m.d.sync += [
                gathered.eq(line),
                refused.eq(Mux(r.payload.last, 0, refused | is_refusal(r.payload.response))),
            ]
        with m.If(taken):
            m.d.sync += response.valid.eq(ends & ~self.drain)
        with m.If(ends):
            m.d.sync += [
                response.payload.bits.eq(line),
                response.payload.refused.eq(refused | is_refusal(r.payload.response)),
                response.payload.line.eq(entry.line),
                response.payload.tag.eq(entry.tag),
            ]
        return m
