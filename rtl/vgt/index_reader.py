"""Reads the indices of a draw.

Source: docs/draws.md, vertices and primitives.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import INDEX, INDEX_BUFFER
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.isa.draws import IndexFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS

_LINES = 2
"""Lines in flight."""
_SHORT_BYTES, _LONG_BYTES = 2, 4


class IndexReader(wiring.Component):
    """Gives the indices of an instance, one in each cycle: those of the index buffer, or 0, 1, ...

    A line is in use while its indices are taken, and one more is in flight.

    Members
    -------
    begin : ``In(1)``
        Begin an instance, only while `idle`; what is left of the last one is dropped.
    drop : ``In(1)``
        Read no further index. One that is offered is held until `begin`.
    idle : ``Out(1)``
        No index is left but the one that is offered, and no line is in flight.
    buffer : ``In(INDEX_BUFFER)``
    count : ``In(32)``
        Indices, one at least. Both are constant until the last index was taken.
    index : ``Out(stream.Signature(INDEX))``
    lines : ``Out(LineClient())``
    """

    begin: In(1)
    drop: In(1)
    idle: Out(1)
    buffer: In(INDEX_BUFFER)
    count: In(WORD_BITS)
    index: Out(stream.Signature(INDEX))
    lines: Out(LineClient())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response, index = self.lines.request, self.lines.response, self.index
        number, address, works = Signal(WORD_BITS), Signal(ADDRESS_BITS), Signal()
        is_short = self.buffer.format == IndexFormat.UINT16
        reads = self.buffer.format != IndexFormat.NONE
        in_line = address[:LINE_OFFSET_BITS]
        step = Mux(is_short, _SHORT_BYTES, _LONG_BYTES)
        last, ends_line = number == self.count - 1, (in_line + step)[LINE_OFFSET_BITS]
        bits = Value.cast(response.payload.bits)
        short = bits.word_select(in_line[1:], 8 * _SHORT_BYTES)
        read = Mux(is_short, short, bits.word_select(in_line[2:], 8 * _LONG_BYTES))
        free, gives = ~index.valid | index.ready, Signal()
        m.d.comb += [
            gives.eq(works & free & (~reads | response.valid)),
            # What was in flight at a drop goes.
            response.ready.eq(~works | (gives & reads & (ends_line | last))),
        ]
        with m.If(free):
            m.d.sync += [
                index.valid.eq(gives),
                index.payload.index.eq(Mux(reads, read, number)),
                index.payload.restarts.eq(self.buffer.restarts & (Mux(reads, read, number) == self.buffer.restart)),
                index.payload.error.eq(reads & response.payload.error),
                index.payload.last.eq(last),
            ]
        with m.If(gives):
            m.d.sync += [number.eq(number + 1), address.eq(address + step), works.eq(~last)]
        all_read = self._request(m, reads, is_short, response.valid & response.ready)
        with m.If(self.drop):
            m.d.sync += works.eq(0)
        with m.If(self.begin):
            m.d.sync += [number.eq(0), address.eq(self.buffer.address), works.eq(1), index.valid.eq(0)]
        m.d.comb += [request.payload.uncached.eq(1), self.idle.eq(~works & all_read)]
        return m

    def _request(self, m: Module, reads: Value, is_short: Value, returned: Value) -> Value:
        """Request the buffer's lines in order. Returns whether all have come."""
        request, buffer = self.lines.request, self.buffer
        line, remaining = Signal(LINE_ADDRESS_BITS), Signal(WORD_BITS)
        in_flight, taken = Signal(range(_LINES + 1)), request.valid & request.ready
        offset = buffer.address[:LINE_OFFSET_BITS]
        size = Mux(is_short, self.count << 1, self.count << 2)
        lines = (size + offset + (1 << LINE_OFFSET_BITS) - 1) >> LINE_OFFSET_BITS
        m.d.comb += [request.valid.eq((remaining != 0) & (in_flight != _LINES)), request.payload.line.eq(line)]
        m.d.sync += in_flight.eq(in_flight + taken - returned)
        with m.If(taken):
            m.d.sync += [line.eq(line + 1), remaining.eq(remaining - 1)]
        with m.If(self.drop):
            # A request that has been offered is held.
            m.d.sync += remaining.eq(request.valid & ~request.ready)
        with m.If(self.begin):
            m.d.sync += [line.eq(buffer.address[LINE_OFFSET_BITS:]), remaining.eq(Mux(reads, lines, 0))]
        return (remaining == 0) & (in_flight == 0)
