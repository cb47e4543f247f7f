"""Lines put back into the order in which they were asked for."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LineClient, TaggedLineClient
from ctm.rtl.lib.rings import place_behind
from ctm.rtl.mc.lines.rows import LineRows


class LineOrder(wiring.Component):
    """Gives a client its lines in order, although several ports answer in orders of their own.

    Each request has a place in a ring of `outstanding` lines, which is its tag; so an answer can always be taken, and
    no port ever waits for another one. A line is offered two cycles after the last of its parts came, and one in each
    cycle.

    Members
    -------
    client : ``In(LineClient())``
    lines : ``Out(TaggedLineClient(range(outstanding), part_bits))``
    idle : ``Out(1)``
        No line is under way.
    """

    def __init__(self, *, outstanding: int, part_bits: int = LINE_BITS) -> None:
        self._outstanding, self._part_bits = outstanding, part_bits
        lines = TaggedLineClient(range(outstanding), part_bits)
        super().__init__({"client": In(LineClient()), "lines": Out(lines), "idle": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        depth = self._outstanding
        lines = LineRows(depth, self._part_bits)
        m.submodules.lines = lines
        read = lines.read_port()
        arrived = Signal(depth)
        first, following = Signal(range(depth)), Signal(range(depth))
        count = Signal(range(depth + 1))
        request, response, asked, came = (
            self.client.request,
            self.client.response,
            self.lines.request,
            self.lines.response,
        )
        room = count != depth
        m.d.comb += self.idle.eq(count == 0)
        m.d.comb += [
            asked.valid.eq(request.valid & room),
            request.ready.eq(asked.ready & room),
            asked.payload.line.eq(request.payload.line),
            asked.payload.uncached.eq(request.payload.uncached),
            asked.payload.tag.eq(following),
        ]
        whole = lines.fill(m, came.payload.tag, came.payload, came.valid)
        taken = response.valid & response.ready
        head = Signal(range(depth))
        m.d.comb += [
            head.eq(Mux(taken, place_behind(first, depth), first)),
            read.addr.eq(head),
            response.payload.eq(lines.line(read.data)),
        ]
        # The read port shows the row that `head` named in the last cycle, if its line had come before.
        left = Signal(depth)
        m.d.comb += left.eq(arrived & ~(Value.cast(taken).replicate(depth) & (1 << first)[:depth]))
        m.d.sync += [
            first.eq(head),
            arrived.eq(left | Mux(whole, (1 << came.payload.tag)[:depth], 0)),
            response.valid.eq(left.bit_select(head, 1)),
            count.eq(count + (asked.valid & asked.ready) - taken),
        ]
        with m.If(asked.valid & asked.ready):
            m.d.sync += following.eq(place_behind(following, depth))
        return m
