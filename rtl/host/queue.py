"""The queue of command buffers and their ids."""

from amaranth import Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import COMMAND_BUFFER
from ctm.rtl.isa.host import QUEUE_DEPTH
from ctm.rtl.isa.limits import WORD_BITS


class BufferQueue(wiring.Component):
    """Holds the command buffers that wait for the command processor.

    Ids count from 1 on; after the largest comes 1 again.

    Members
    -------
    push : ``In(1)``
    entry : ``In(COMMAND_BUFFER)``
        The buffer that is pushed.
    rejected : ``Out(1)``
        The push is not taken, because the queue is full.
    full : ``Out(1)``
    buffer : ``Out(stream.Signature(COMMAND_BUFFER))``
    hold : ``In(1)``
        Offer no buffer.
    consumed : ``In(1)``
        The buffer that was taken is finished.
    discard : ``In(1)``
        Drop all buffers; they count as consumed, also one that was taken.
    empty : ``Out(1)``
        Every buffer has been consumed.
    last_submitted, last_consumed : ``Out(32)``
        Ids; 0 at first.
    """

    push: In(1)
    entry: In(COMMAND_BUFFER)
    rejected: Out(1)
    full: Out(1)
    buffer: Out(stream.Signature(COMMAND_BUFFER))
    hold: In(1)
    consumed: In(1)
    discard: In(1)
    empty: Out(1)
    last_submitted: Out(WORD_BITS)
    last_consumed: Out(WORD_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        queue = SyncFIFOBuffered(width=COMMAND_BUFFER.size, depth=QUEUE_DEPTH)
        m.submodules.queue = ResetInserter(self.discard)(queue)
        offered = Signal()
        m.d.comb += [
            self.full.eq(~queue.w_rdy),
            self.rejected.eq(self.push & self.full),
            queue.w_en.eq(self.push & ~self.discard),
            queue.w_data.eq(self.entry),
            # A buffer that is offered is held: a stream requires it.
            self.buffer.valid.eq(queue.r_rdy & (offered | ~self.hold)),
            Value.cast(self.buffer.payload).eq(queue.r_data),
            queue.r_en.eq(self.buffer.valid & self.buffer.ready),
            self.empty.eq(self.last_submitted == self.last_consumed),
        ]
        m.d.sync += offered.eq(self.buffer.valid & ~self.buffer.ready & ~self.discard)
        with m.If(self.push & ~self.full & ~self.discard):
            m.d.sync += self.last_submitted.eq(_following(self.last_submitted))
        with m.If(self.discard):
            m.d.sync += self.last_consumed.eq(self.last_submitted)
        with m.Elif(self.consumed):
            m.d.sync += self.last_consumed.eq(_following(self.last_consumed))
        return m


def _following(number: Value) -> Value:
    """The id after `number`."""
    return Mux(number.all(), 1, number + 1)[:WORD_BITS]
