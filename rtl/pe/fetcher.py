"""Prefetches a command buffer."""

from amaranth import Cat, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import COMMAND_BUFFER
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LineClient, is_last_slice
from ctm.rtl.isa.limits import WORD_BITS

_LINES, _CAPACITY = 8, 16
"""Most lines in flight, enough for one word per cycle at 100 cycles of latency; and lines whose words fit the queue."""
_WORDS = LINE_BITS // WORD_BITS
_BYTE_BITS = (WORD_BITS // 8 - 1).bit_length()

WORD = data.StructLayout({"word": WORD_BITS, "error": 1})
"""A word of a command buffer; with `error` it means nothing."""


class BufferControl(Interface):
    """The command buffers that are read, seen from the unit that executes their commands.

    Members
    -------
    begin : ``Out({valid, buffer})``
        Another buffer, of at least one word; only after `drop`, at least a cycle later, and when no line is in flight.
    drop : ``Out(1)``
        Drop the remaining commands of the buffer.
    """

    def __init__(self) -> None:
        begin = data.StructLayout({"valid": 1, "buffer": COMMAND_BUFFER})
        super().__init__({"begin": Out(begin), "drop": Out(1)})


class CommandFetcher(wiring.Component):
    """Gives the words of a command buffer in order, one in each cycle.

    It requests the lines of the buffer and no others; at most eight are in flight. The queue has space for their words,
    so responses have no backpressure from `words`. Addresses wrap. `words` has all words of the buffer's last line; the
    reader counts. Latency from a line to its first word is two cycles.

    Members
    -------
    buffers : ``In(BufferControl())``
        A buffer begins only while `idle`; with `drop` the responses in flight are dropped too.
    idle : ``Out(1)``
        No line is in flight and the queue is empty.
    words : ``Out(stream.Signature(WORD))``
    lines : ``Out(LineClient(slice_bits))``
        A slice is taken in as many cycles as it has words.
    """

    def __init__(self, slice_bits: int = LINE_BITS) -> None:
        self._inside = (slice_bits // WORD_BITS - 1).bit_length()
        super().__init__(
            {
                "buffers": In(BufferControl()),
                "idle": Out(1),
                "words": Out(stream.Signature(WORD)),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, response = self.lines.request, self.lines.response
        dropping, in_flight, index = Signal(), Signal(range(_LINES + 1)), Signal(range(_WORDS))
        # Words fit block RAM; whole lines in distributed memory would take 774 LUTs.
        queue = SyncFIFOBuffered(width=WORD.size, depth=_CAPACITY * _WORDS)
        m.submodules.queue = ResetInserter(dropping)(queue)
        begins, inside = request.valid & request.ready, self._inside
        ends = response.valid & response.ready & is_last_slice(response.payload)
        # Slices in front of the buffer's first word are passed over.
        comes = Signal.like(response.payload.slice)
        is_its = comes == index[inside:]
        word = Value.cast(response.payload.bits).word_select(index[:inside], WORD_BITS)
        m.d.sync += in_flight.eq(in_flight + begins - ends)
        m.d.comb += [
            response.ready.eq(dropping | ~is_its | index[:inside].all()),
            queue.w_en.eq(response.valid & ~dropping & is_its),
            queue.w_data.eq(Cat(word, response.payload.error)),
            queue.r_en.eq(self.words.ready),
            self.words.valid.eq(queue.r_rdy & ~dropping),
            Value.cast(self.words.payload).eq(queue.r_data),
        ]
        remaining = self._request(m, (in_flight != _LINES) & (queue.level <= (_CAPACITY - _LINES) * _WORDS))
        m.d.comb += self.idle.eq((remaining == 0) & (in_flight == 0) & (queue.level == 0))
        with m.If(response.valid & response.ready):
            m.d.sync += comes.eq(comes + 1)
        with m.If(queue.w_en):
            m.d.sync += index.eq(index + 1)
        with m.If(self.buffers.drop):
            # A request that has been offered is held.
            m.d.sync += [dropping.eq(1), remaining.eq(request.valid & ~request.ready)]
        with m.If(self.buffers.begin.valid):
            m.d.sync += [dropping.eq(0), index.eq(self.buffers.begin.buffer.address[_BYTE_BITS:LINE_OFFSET_BITS])]
        return m

    def _request(self, m: Module, credit: Value) -> Value:
        """Request the buffer's lines in order. Returns the number of remaining ones."""
        buffer, request = self.buffers.begin.buffer, self.lines.request
        remaining = Signal(WORD_BITS - (_WORDS - 1).bit_length() + 1)
        first = buffer.address[_BYTE_BITS:LINE_OFFSET_BITS]
        line, offered = Signal(LINE_ADDRESS_BITS), Signal()
        # An offered request is held: its credit cannot be lost. It is registered, because it feeds the arbiters of all
        # readers of memory.
        m.d.sync += offered.eq(Mux(request.valid, ~request.ready, (remaining != 0) & credit & ~self.buffers.drop))
        m.d.comb += [
            request.valid.eq(offered),
            request.payload.line.eq(line),
            request.payload.uncached.eq(1),
        ]
        with m.If(request.valid & request.ready):
            m.d.sync += [remaining.eq(remaining - 1), line.eq(line + 1)]
        with m.If(self.buffers.begin.valid):
            m.d.sync += [
                remaining.eq((buffer.dwords + first + _WORDS - 1) >> (_WORDS - 1).bit_length()),
                line.eq(buffer.address[LINE_OFFSET_BITS:]),
            ]
        return remaining
