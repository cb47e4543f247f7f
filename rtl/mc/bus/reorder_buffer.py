"""Returns lines in the order of their requests."""

from functools import reduce
from itertools import accumulate
from operator import or_

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LineClient, slice_layout, tagged_line_request_layout
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.rings import next_index
from ctm.rtl.lib.sharing import round_robin
from ctm.rtl.mc.lines.rows import line_of, row_of_slices, write_slice


class ReorderBuffer(wiring.Component):
    """A reorder buffer: lines come in any order and are returned in order. No client blocks another.

    Each request allocates an entry in a ring of the client's `outstanding` lines. The entry is the tag, so a response
    has no backpressure. All rings are in one memory, of which one row is read in a cycle, round-robin. A line is
    offered two cycles after its last slice, and one in every second cycle: ready does not decide what is read.

    Members
    -------
    clients : ``In(LineClient())``, as many as `outstanding` has numbers
    requests : ``Out(stream.Signature(tagged_line_request_layout(range(most))))`` for each client
        With the largest of `outstanding`.
    response : ``In(stream.Signature({slice, client, tag}, always_ready=True))``
        A slice of a client's line.
    idle : ``Out(1)``
        No line is in flight.
    """

    def __init__(self, *, outstanding: tuple[int, ...], slice_bits: int = LINE_BITS) -> None:
        self._outstanding, self._slice_bits = outstanding, slice_bits
        count, tag = len(outstanding), range(max(outstanding))
        response = data.StructLayout({**slice_layout(slice_bits), "client": range(count), "tag": tag})
        super().__init__(
            {
                "clients": In(LineClient()).array(count),
                "requests": Out(stream.Signature(tagged_line_request_layout(tag))).array(count),
                "response": In(stream.Signature(response, always_ready=True)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        depths = self._outstanding
        m.submodules.lines = lines = DistributedRam(row_of_slices(self._slice_bits), sum(depths))
        bases = [0, *accumulate(depths)][:-1]
        came = self.response.payload
        row = Value.cast(Array(bases)[came.client] + came.tag)[: (sum(depths) - 1).bit_length()]
        whole = write_slice(m, lines, row, came, self.response.valid)
        requests, heads, busy = [], [], []
        reads = Signal(len(depths))
        for number, (depth, base) in enumerate(zip(depths, bases, strict=True)):
            arrives = Mux(whole & (came.client == number), (1 << came.tag)[:depth], 0)
            first, ready, count = self._ring(m, number, depth, arrives, reads[number])
            requests.append(ready)
            heads.append((base + first)[: len(row)])
            busy.append(count != 0)
        m.d.comb += [reads.eq(_grant(m, Cat(requests))), self.idle.eq(~Cat(busy).any())]
        read = lines.read(m, reduce(or_, (Mux(reads[number], head, 0) for number, head in enumerate(heads))))
        for number, client in enumerate(self.clients):
            with m.If(reads[number]):
                m.d.sync += client.response.payload.eq(line_of(read))
        return m

    def _ring(self, m: Module, number: int, depth: int, arrives: Value, reads: Value) -> tuple[Value, Value, Value]:
        """A client's ring: its first line, whether that can be read, and its number of entries in use."""
        request, response, sent = self.clients[number].request, self.clients[number].response, self.requests[number]
        arrived, first, following, count = (
            Signal(shape, name=f"{name}_{number}")
            for name, shape in (
                ("arrived", depth), ("first", range(depth)), ("following", range(depth)), ("count", range(depth + 1)),
            )
        )  # fmt: skip
        has_space, taken = count != depth, response.valid & response.ready
        m.d.comb += [
            sent.valid.eq(request.valid & has_space),
            request.ready.eq(sent.ready & has_space),
            sent.payload.line.eq(request.payload.line),
            sent.payload.uncached.eq(request.payload.uncached),
            sent.payload.tag.eq(following),
        ]
        m.d.sync += [
            arrived.eq(arrived & ~Mux(reads, (1 << first)[:depth], 0) | arrives),
            response.valid.eq(reads | response.valid & ~response.ready),
            count.eq(count + (sent.valid & sent.ready) - taken),
        ]
        with m.If(reads):
            m.d.sync += first.eq(next_index(first, depth))
        with m.If(sent.valid & sent.ready):
            m.d.sync += following.eq(next_index(following, depth))
        return first, arrived.bit_select(first, 1) & ~response.valid, count


def _grant(m: Module, requests: Value) -> Value:
    """The round-robin grant, one-hot."""
    if len(requests) == 1:
        return requests
    pointer = Signal(len(requests))
    chosen = round_robin(requests, pointer)
    with m.If(requests.any()):
        # All above the grant have priority next.
        m.d.sync += pointer.eq(~((chosen << 1) - 1)[: len(requests)])
    return chosen
