"""Lines read over one memory port."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, slice_layout
from ctm.rtl.mc.bus.axi import BURST, is_error, line_beats, read_beat_layout


def tagged_request_layout(tag: ShapeLike) -> data.StructLayout:
    """A request for a line; the response returns the tag."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "tag": tag})


def tagged_response_layout(tag: ShapeLike, slice_bits: int = LINE_BITS) -> data.StructLayout:
    """A slice of a line; with `error`, which the last slice has, the line's bits mean nothing."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, **slice_layout(slice_bits), "tag": tag})


class BusReader(wiring.Component):
    """Reads lines, one burst each, in order, with up to `outstanding` bursts in flight.

    The burst is offered in the cycle after the request, one in each cycle. `slice_bits` is the width of a line or of a
    beat. A slice is offered in the cycle after its last beat; a beat is taken in each cycle unless a whole slice waits
    for the previous one. An error response to any beat is the line's error.

    A soft reset does not clear this unit. With `drain` it takes no request and drops responses, until `idle`.

    Members
    -------
    request : ``In(stream.Signature(tagged_request_layout(tag)))``
    response : ``Out(stream.Signature(tagged_response_layout(tag, slice_bits)))``
    ar, r : the port's channels
    drain : ``In(1)``
    idle : ``Out(1)``
    """

    def __init__(self, tag: ShapeLike, *, data_bits: int, outstanding: int, slice_bits: int = LINE_BITS) -> None:
        if slice_bits not in (data_bits, LINE_BITS):
            raise ValueError(f"slice_bits must be {data_bits} or {LINE_BITS}, not {slice_bits}")
        self._data_bits, self._outstanding, self._slice_bits = data_bits, outstanding, slice_bits
        self._entry = tagged_request_layout(tag)
        super().__init__(
            {
                "request": In(stream.Signature(self._entry)),
                "response": Out(stream.Signature(tagged_response_layout(tag, slice_bits))),
                "ar": Out(stream.Signature(BURST)),
                "r": In(stream.Signature(read_beat_layout(data_bits))),
                "drain": In(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        beats = line_beats(self._data_bits)
        m.submodules.in_flight = in_flight = SyncFIFOBuffered(width=self._entry.size, depth=self._outstanding)
        request, ar = self.request, self.ar
        free = ~ar.valid | ar.ready
        m.d.comb += [
            request.ready.eq(free & in_flight.w_rdy & ~self.drain),
            in_flight.w_en.eq(request.valid & free & ~self.drain),
            in_flight.w_data.eq(request.payload),
            self.idle.eq((in_flight.level == 0) & ~ar.valid),
        ]
        with m.If(free):
            m.d.sync += [
                ar.valid.eq(request.valid & request.ready),
                ar.payload.address.eq(Cat(Const(0, LINE_OFFSET_BITS), request.payload.line)),
                ar.payload.length.eq(beats - 1),
            ]

        r, response = self.r, self.response
        error, index = Signal(), Signal.like(response.payload.slice)
        taken = ~response.valid | response.ready | self.drain
        entry = data.View(self._entry, in_flight.r_data)
        bits, is_whole = self._slice(m)
        came = r.valid & r.ready
        ends, errors = came & r.payload.last, error | is_error(r.payload.response)
        m.d.comb += [r.ready.eq(in_flight.r_rdy & (taken | ~is_whole)), in_flight.r_en.eq(ends)]
        with m.If(came):
            m.d.sync += error.eq(Mux(r.payload.last, 0, errors))
        with m.If(taken):
            m.d.sync += response.valid.eq(came & is_whole & ~self.drain)
        with m.If(came & is_whole):
            m.d.sync += [
                index.eq(index + 1),
                response.payload.bits.eq(bits),
                response.payload.slice.eq(index),
                response.payload.error.eq(r.payload.last & errors),
                response.payload.line.eq(entry.line),
                response.payload.tag.eq(entry.tag),
            ]
        return m

    def _slice(self, m: Module) -> tuple[Value, Value]:
        """The bits of a slice, with the beat that is offered, and whether that beat is its last one."""
        r = self.r
        if self._slice_bits == self._data_bits:
            return r.payload.bits, Const(1)
        gathered = Signal(LINE_BITS, reset_less=True)
        # The last beat is not stored before the line is offered.
        line = Cat(gathered[self._data_bits :], r.payload.bits)
        with m.If(r.valid & r.ready):
            m.d.sync += gathered.eq(line)
        return line, r.payload.last
