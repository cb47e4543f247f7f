"""Lines put back into the order in which they were asked for."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_REQUEST, LINE_RESPONSE
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout


class LineOrder(wiring.Component):
    """Gives a client its lines in order, although several ports answer in orders of their own.

    Each request has a place in a ring of `outstanding` lines, which is its tag; so an answer can always be taken, and
    no port ever waits for another one. A line is offered two cycles after it came, and one in each cycle.

    Members
    -------
    request : ``In(stream.Signature(LINE_REQUEST))``
    response : ``Out(stream.Signature(LINE_RESPONSE))``
    tagged_request : ``Out(stream.Signature(tagged_request_layout(range(outstanding))))``
    tagged_response : ``In(stream.Signature(tagged_response_layout(range(outstanding)), always_ready=True))``
    idle : ``Out(1)``
        No line is under way.
    """

    def __init__(self, *, outstanding: int) -> None:
        self._outstanding = outstanding
        tag = range(outstanding)
        super().__init__(
            {
                "request": In(stream.Signature(LINE_REQUEST)),
                "response": Out(stream.Signature(LINE_RESPONSE)),
                "tagged_request": Out(stream.Signature(tagged_request_layout(tag))),
                "tagged_response": In(stream.Signature(tagged_response_layout(tag), always_ready=True)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        depth = self._outstanding
        lines: Memory = Memory(shape=LINE_RESPONSE, depth=depth, init=[])
        m.submodules.lines = lines
        write, read = lines.write_port(), lines.read_port()
        arrived = Signal(depth)
        first, following = Signal(range(depth)), Signal(range(depth))
        count = Signal(range(depth + 1))
        request, asked, came = self.request, self.tagged_request, self.tagged_response
        room = count != depth
        m.d.comb += self.idle.eq(count == 0)
        m.d.comb += [
            asked.valid.eq(request.valid & room),
            request.ready.eq(asked.ready & room),
            asked.payload.line.eq(request.payload.line),
            asked.payload.tag.eq(following),
            write.en.eq(came.valid),
            write.addr.eq(came.payload.tag),
            write.data.bits.eq(came.payload.bits),
            write.data.refused.eq(came.payload.refused),
        ]
        taken = self.response.valid & self.response.ready
        head = Signal(range(depth))
        m.d.comb += [
            head.eq(Mux(taken, _next(first, depth), first)),
            read.addr.eq(head),
            self.response.payload.eq(read.data),
        ]
        # The read port shows the row that `head` named at the end of the last cycle, as it was in front of it.
        left = Signal(depth)
        m.d.comb += left.eq(arrived & ~(Value.cast(taken).replicate(depth) & (1 << first)[:depth]))
        m.d.sync += [
            first.eq(head),
            arrived.eq(left | Mux(came.valid, (1 << came.payload.tag)[:depth], 0)),
            self.response.valid.eq(left.bit_select(head, 1)),
            count.eq(count + (asked.valid & asked.ready) - taken),
        ]
        with m.If(asked.valid & asked.ready):
            m.d.sync += following.eq(_next(following, depth))
        return m


def _next(index: Value, depth: int) -> Value:
    """The following place in the ring."""
    return Mux(index == depth - 1, 0, index + 1)[: max(1, (depth - 1).bit_length())]
