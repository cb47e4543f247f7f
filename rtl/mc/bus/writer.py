"""Lines written over one memory port."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, line_write_layout
from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.mc.bus.axi import ACKNOWLEDGE, BURST, is_error, line_beats, write_beat_layout
from ctm.rtl.mc.lines.slice_walk import first_and_last


def tagged_write_layout(tag: ShapeLike, slice_bits: int = LINE_BITS) -> data.StructLayout:
    """A slice of a line with at least one byte to be written; the line's write response returns the tag."""
    return data.StructLayout({"write": line_write_layout(slice_bits), "tag": tag})


def tagged_write_response_layout(tag: ShapeLike) -> data.StructLayout:
    """The write response of a line."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "error": 1, "tag": tag})


class BusWriter(wiring.Component):
    """Writes lines, one burst each, in order, with up to `outstanding` bursts that have no response yet.

    A burst has the beats from the first to the last one with a byte to be written. Its first beat and its address are
    offered in the cycle after the request; there is no gap between bursts. `slice_bits` is the width of a line or of a
    beat.

    A soft reset does not clear this unit. With `drain` it takes no request, finishes its bursts and drops responses,
    until `idle`. Beats of a burst whose slices do not come any more write nothing.

    Members
    -------
    request : ``In(stream.Signature(tagged_write_layout(tag, slice_bits)))``
    response : ``Out(stream.Signature(tagged_write_response_layout(tag)))``
        In order.
    aw, w, b : the port's channels
    drain : ``In(1)``
    idle : ``Out(1)``
    """

    def __init__(self, tag: ShapeLike, *, data_bits: int, outstanding: int, slice_bits: int = LINE_BITS) -> None:
        if slice_bits not in (data_bits, LINE_BITS):
            raise ValueError(f"slice_bits must be {data_bits} or {LINE_BITS}, not {slice_bits}")
        self._data_bits, self._outstanding, self._slice_bits = data_bits, outstanding, slice_bits
        self._entry = data.StructLayout({"line": LINE_ADDRESS_BITS, "tag": tag})
        super().__init__(
            {
                "request": In(stream.Signature(tagged_write_layout(tag, slice_bits))),
                "response": Out(stream.Signature(tagged_write_response_layout(tag))),
                "aw": Out(stream.Signature(BURST)),
                "w": Out(stream.Signature(write_beat_layout(data_bits))),
                "b": In(stream.Signature(ACKNOWLEDGE)),
                "drain": In(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.in_flight = in_flight = SyncFIFOBuffered(width=self._entry.size, depth=self._outstanding)
        m.d.comb += in_flight.w_data.eq(Cat(self.request.payload.write.line, self.request.payload.tag))
        send = self._send_line if self._slice_bits == LINE_BITS else self._send_slices
        sending = send(m, in_flight)
        m.d.comb += self.idle.eq((in_flight.level == 0) & ~self.aw.valid & ~sending)
        entry, b, response = data.View(self._entry, in_flight.r_data), self.b, self.response
        m.d.comb += [
            response.valid.eq(b.valid & in_flight.r_rdy & ~self.drain),
            response.payload.line.eq(entry.line),
            response.payload.tag.eq(entry.tag),
            response.payload.error.eq(is_error(b.payload.response)),
            b.ready.eq(in_flight.r_rdy & (response.ready | self.drain)),
            in_flight.r_en.eq(b.valid & b.ready),
        ]
        return m

    def _send_slices(self, m: Module, in_flight: SyncFIFOBuffered) -> Value:
        """Send each slice as a beat, and the address with the first one of a line. Returns whether a burst is sent."""
        beat_bits = (line_beats(self._data_bits) - 1).bit_length()
        aw, w, request, write = self.aw, self.w, self.request, self.request.payload.write
        # Beats of the burst that are still to come from the client.
        remaining = Signal.like(write.remaining)
        begins, starts, moves = ~remaining.any(), Signal(), ~w.valid | w.ready
        has_space = ~begins | ((~aw.valid | aw.ready) & in_flight.w_rdy)
        takes = request.valid & request.ready
        m.d.comb += [
            request.ready.eq(moves & has_space & ~self.drain),
            starts.eq(takes & begins),
            in_flight.w_en.eq(starts),
        ]
        with m.If(aw.ready):
            m.d.sync += aw.valid.eq(0)
        with m.If(starts):
            m.d.sync += [
                aw.valid.eq(1),
                aw.payload.address.eq(Cat(Const(0, LINE_OFFSET_BITS - beat_bits), write.slice, write.line)),
                aw.payload.length.eq(write.remaining),
            ]
        with m.If(moves):
            m.d.sync += [
                w.valid.eq(takes | (self.drain & remaining.any())),
                w.payload.bits.eq(write.bits),
                w.payload.strobe.eq(Mux(self.drain, 0, write.mask)),
                w.payload.last.eq(Mux(self.drain, remaining == 1, ~write.remaining.any())),
            ]
            with m.If(takes):
                m.d.sync += remaining.eq(write.remaining)
            with m.Elif(self.drain & remaining.any()):
                m.d.sync += remaining.eq(remaining - 1)
        is_sending: Value = w.valid | remaining.any()
        return is_sending

    def _send_line(self, m: Module, in_flight: SyncFIFOBuffered) -> Value:
        """Send the beats of a line, and its address with the first one. Returns whether a burst is sent."""
        request, w = self.request, self.w
        sending, free = Signal(), Signal()
        takes = request.valid & request.ready
        m.d.comb += [
            free.eq((~self.aw.valid | self.aw.ready) & (~sending | (w.ready & w.payload.last))),
            request.ready.eq(free & in_flight.w_rdy & ~self.drain),
            in_flight.w_en.eq(takes),
        ]
        self._send_beats(m, takes, sending)
        return sending

    def _send_beats(self, m: Module, takes: Value, sending: Signal) -> None:
        beats, beat_bytes = line_beats(self._data_bits), self._data_bits // BYTE_BITS
        beat_bits = (beats - 1).bit_length()
        aw, w, write = self.aw, self.w, self.request.payload.write
        held, last = Signal.like(write), Signal(beat_bits)
        first_used, last_used = first_and_last(write.mask, beat_bytes)
        beat = Signal(beat_bits)
        unused = Const(0, LINE_OFFSET_BITS - beat_bits)
        m.d.comb += [
            w.valid.eq(sending),
            w.payload.bits.eq(held.bits.word_select(beat, self._data_bits)),
            w.payload.strobe.eq(held.mask.word_select(beat, beat_bytes)),
            w.payload.last.eq(beat == last),
        ]
        with m.If(w.valid & w.ready):
            m.d.sync += [beat.eq(beat + 1), sending.eq(~w.payload.last)]
        with m.If(aw.ready):
            m.d.sync += aw.valid.eq(0)
        with m.If(takes):
            m.d.sync += [
                held.eq(write),
                beat.eq(first_used),
                last.eq(last_used),
                sending.eq(1),
                aw.valid.eq(1),
                aw.payload.address.eq(Cat(unused, first_used[:beat_bits], write.line)),
                aw.payload.length.eq(Mux(write.mask.any(), last_used - first_used, 0)),
            ]
