"""Lines written over one memory port."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_OFFSET_BITS, LINE_WRITE
from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.mc.bus.axi import ACKNOWLEDGE, BURST, is_error, line_beats, write_beat_layout


def tagged_write_layout(tag: ShapeLike) -> data.StructLayout:
    """Bytes of a line, at least one; the write response returns the tag."""
    return data.StructLayout({"write": LINE_WRITE, "tag": tag})


def tagged_write_response_layout(tag: ShapeLike) -> data.StructLayout:
    """The write response of a line."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "error": 1, "tag": tag})


class BusWriter(wiring.Component):
    """Writes lines, one burst each, in order, with up to `outstanding` bursts that have no response yet.

    A burst has the beats from the first to the last one with a byte to be written. Its first beat and its address are
    offered in the cycle after the request; there is no gap between bursts.

    A soft reset does not clear this unit. With `drain` it takes no request, finishes its bursts and drops responses,
    until `idle`.

    Members
    -------
    request : ``In(stream.Signature(tagged_write_layout(tag)))``
    response : ``Out(stream.Signature(tagged_write_response_layout(tag)))``
        In order.
    aw, w, b : the port's channels
    drain : ``In(1)``
    idle : ``Out(1)``
    """

    def __init__(self, tag: ShapeLike, *, data_bits: int, outstanding: int) -> None:
        self._data_bits, self._outstanding = data_bits, outstanding
        self._entry = data.StructLayout({"line": LINE_ADDRESS_BITS, "tag": tag})
        super().__init__(
            {
                "request": In(stream.Signature(tagged_write_layout(tag))),
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
        m.submodules.underway = underway = SyncFIFOBuffered(width=self._entry.size, depth=self._outstanding)
        request, w = self.request, self.w
        sending = Signal()
        free = Signal()
        takes = request.valid & request.ready
        m.d.comb += [
            free.eq((~self.aw.valid | self.aw.ready) & (~sending | (w.ready & w.payload.last))),
            request.ready.eq(free & underway.w_rdy & ~self.drain),
            underway.w_en.eq(takes),
            underway.w_data.eq(Cat(request.payload.write.line, request.payload.tag)),
            self.idle.eq((underway.level == 0) & ~self.aw.valid & ~sending),
        ]
        self._send(m, takes, sending)
        entry, b, response = data.View(self._entry, underway.r_data), self.b, self.response
        m.d.comb += [
            response.valid.eq(b.valid & underway.r_rdy & ~self.drain),
            response.payload.line.eq(entry.line),
            response.payload.tag.eq(entry.tag),
            response.payload.error.eq(is_error(b.payload.response)),
            b.ready.eq(underway.r_rdy & (response.ready | self.drain)),
            underway.r_en.eq(b.valid & b.ready),
        ]
        return m

    def _send(self, m: Module, takes: Value, sending: Signal) -> None:
        """The burst's address and its beats."""
        beats, beat_bytes = line_beats(self._data_bits), self._data_bits // BYTE_BITS
        beat_bits = (beats - 1).bit_length()
        aw, w, write = self.aw, self.w, self.request.payload.write
        held, last = Signal(LINE_WRITE), Signal(beat_bits)
        used = Cat(write.mask.word_select(beat, beat_bytes).any() for beat in range(beats))
        first_used = one_hot_index(lowest_one(used))
        last_used = beats - 1 - one_hot_index(lowest_one(used[::-1]))
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
                aw.payload.length.eq(Mux(used.any(), last_used - first_used, 0)),
            ]
