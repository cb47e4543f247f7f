"""Returns lines in the order of their requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import (
    LINE_BITS,
    LineClient,
    is_last_slice,
    read_bits,
    slice_layout,
    tagged_line_request_layout,
)
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.rings import next_index
from ctm.rtl.lib.sharing import round_robin
from ctm.rtl.mc.lines.rows import line_of, row_of_slices, write_slice


@dataclass(frozen=True, kw_only=True)
class _Ring:
    """A client's lines: the row of the first one, whether that has come, and whether it has an error."""

    row: Value
    has_line: Value
    error: Value
    is_empty: Value


class ReorderBuffer(wiring.Component):
    """A reorder buffer: lines come in any order and are returned in order. No client blocks another.

    Each request allocates an entry in a ring of the client's `outstanding` lines. The entry is the tag, so a response
    has no backpressure. All rings are in one memory, of which one row is read in a cycle, round-robin.

    Lines that come whole are offered two cycles after they came, and one in every second cycle: ready does not decide
    what is read. Those that come in slices are in block RAM, in rows of `read_bits(slice_bits)`. The clients that are
    `sliced` are offered each row three cycles after the line's last slice, and one in every third cycle; the others
    are offered whole lines, of N rows, N + 2 cycles after the last slice, and one in N + 2 cycles.

    Members
    -------
    clients : ``In(LineClient(bits))`` for each, of a line or of a row
    requests : ``Out(stream.Signature(tagged_line_request_layout(range(most))))`` for each client
        With the largest of `outstanding`.
    response : ``In(stream.Signature({slice, client, tag}, always_ready=True))``
        A slice of a client's line.
    idle : ``Out(1)``
        No line is in flight.
    """

    def __init__(
        self, *, outstanding: tuple[int, ...], slice_bits: int = LINE_BITS, sliced: tuple[bool, ...] = ()
    ) -> None:
        self._outstanding, self._slice_bits, self._row_bits = outstanding, slice_bits, read_bits(slice_bits)
        count, tag = len(outstanding), range(max(outstanding))
        response = data.StructLayout({**slice_layout(slice_bits), "client": range(count), "tag": tag})
        bits = [self._row_bits if is_sliced else LINE_BITS for is_sliced in sliced or (False,) * count]
        super().__init__(
            {
                **{f"client_{number}": In(LineClient(width)) for number, width in enumerate(bits)},
                "requests": Out(stream.Signature(tagged_line_request_layout(tag))).array(count),
                "response": In(stream.Signature(response, always_ready=True)),
                "idle": Out(1),
            }
        )

    @property
    def clients(self) -> list[wiring.PureInterface]:
        """The clients by their numbers."""
        return [getattr(self, f"client_{number}") for number in range(len(self._outstanding))]

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        depths = self._outstanding
        bases = [0, *accumulate(depths)][:-1]
        came = self.response.payload
        row = Value.cast(Array(bases)[came.client] + came.tag)[: (sum(depths) - 1).bit_length()]
        whole = self.response.valid & is_last_slice(came)
        # Of each client whether a row is read, and whether it is the last one of its line.
        reads, ends = Signal(len(depths)), Signal(len(depths))
        rings = [
            self._ring(m, number, base, len(row), whole & (came.client == number), reads[number] & ends[number])
            for number, base in enumerate(bases)
        ]
        offer = self._offer_lines if self._slice_bits == LINE_BITS else self._offer_rows
        ready = offer(m, row, rings, reads, ends)
        wants = Cat(ring.has_line & is_ready for ring, is_ready in zip(rings, ready, strict=True))
        m.d.comb += [reads.eq(_grant(m, wants)), self.idle.eq(Cat(ring.is_empty for ring in rings).all())]
        return m

    def _offer_lines(self, m: Module, row: Value, rings: Sequence[_Ring], reads: Signal, ends: Signal) -> list[Value]:
        """Offer lines that came whole. Returns of each client whether its next one may be read."""
        m.submodules.lines = lines = DistributedRam(row_of_slices(self._slice_bits), sum(self._outstanding))
        write_slice(m, lines, row, self.response.payload, self.response.valid)
        read = lines.read(m, _chosen(rings, reads))
        m.d.comb += ends.eq(~0)
        for number, client in enumerate(self.clients):
            response = client.response
            m.d.sync += response.valid.eq(reads[number] | response.valid & ~response.ready)
            with m.If(reads[number]):
                m.d.sync += Value.cast(response.payload).eq(line_of(read))
        return [~client.response.valid for client in self.clients]

    def _offer_rows(self, m: Module, row: Value, rings: Sequence[_Ring], reads: Signal, ends: Signal) -> list[Value]:
        """Offer lines that came in slices. Returns of each client whether its next row may be read."""
        rows, came, inside = LINE_BITS // self._row_bits, self.response.payload, self._row_bits // self._slice_bits
        memory = BlockRam(self._row_bits, sum(self._outstanding) * rows)
        m.submodules.rows = memory
        writer, reader = memory.write_port(granularity=self._slice_bits), memory.read_port()
        low = (inside - 1).bit_length()
        positions = [Signal(range(rows), name=f"position_{number}") for number in range(len(rings))]
        position = reduce(or_, (Mux(read, own, 0) for read, own in zip(reads, positions, strict=True)))
        m.d.comb += [
            writer.addr.eq(Cat(came.slice[low:], row)),
            writer.data.eq(came.bits.replicate(inside)),
            writer.en.eq(Mux(self.response.valid, 1 << came.slice[:low], 0)),
            reader.addr.eq(Cat(position, _chosen(rings, reads))),
            ends.eq(Cat(own == rows - 1 for own in positions)),
        ]
        return [
            self._offer(m, number, reader.data, positions[number], ring.error, reads[number])
            for number, ring in enumerate(rings)
        ]

    def _offer(self, m: Module, number: int, bits: Value, position: Signal, error: Value, reads: Value) -> Value:
        """Offer a client what was read for it in the last cycle. Returns whether its next row may be read."""
        response, payload = self.clients[number].response, self.clients[number].response.payload
        came, last = Signal(name=f"came_{number}"), Signal(name=f"last_{number}")
        rows, sliced = LINE_BITS // self._row_bits, len(payload.bits) < LINE_BITS
        m.d.sync += [came.eq(reads), last.eq(position == rows - 1)]
        with m.If(reads):
            m.d.sync += [position.eq(position + 1), payload.error.eq(error)]
        with m.If(came):
            m.d.sync += payload.bits.eq(bits if sliced else Cat(payload.bits[self._row_bits :], bits))
            m.d.sync += payload.slice.eq(position - 1)
        completes = came if sliced else came & last
        m.d.sync += response.valid.eq(completes | response.valid & ~response.ready)
        is_free: Value = ~response.valid & ~completes
        return is_free

    def _ring(self, m: Module, number: int, base: int, row_bits: int, arrives: Value, reads: Value) -> _Ring:
        """A client's ring. A line of it `arrives`; its first one is read, to the end."""
        depth, came = self._outstanding[number], self.response.payload
        request, response, sent = self.clients[number].request, self.clients[number].response, self.requests[number]
        arrived, errors, first, following, count = (
            Signal(shape, name=f"{name}_{number}")
            for name, shape in (
                ("arrived", depth), ("errors", depth), ("first", range(depth)), ("following", range(depth)),
                ("count", range(depth + 1)),
            )
        )  # fmt: skip
        has_space, taken = count != depth, response.valid & response.ready
        if len(response.payload.slice):
            taken = taken & response.payload.slice.all()
        own = Mux(arrives, (1 << came.tag)[:depth], 0)
        m.d.comb += [
            sent.valid.eq(request.valid & has_space),
            request.ready.eq(sent.ready & has_space),
            sent.payload.line.eq(request.payload.line),
            sent.payload.uncached.eq(request.payload.uncached),
            sent.payload.tag.eq(following),
        ]
        m.d.sync += [
            arrived.eq(arrived & ~Mux(reads, (1 << first)[:depth], 0) | own),
            errors.eq(Mux(came.error, errors | own, errors & ~own)),
            count.eq(count + (sent.valid & sent.ready) - taken),
        ]
        with m.If(reads):
            m.d.sync += first.eq(next_index(first, depth))
        with m.If(sent.valid & sent.ready):
            m.d.sync += following.eq(next_index(following, depth))
        return _Ring(
            row=(base + first)[:row_bits],
            has_line=arrived.bit_select(first, 1),
            error=errors.bit_select(first, 1),
            is_empty=count == 0,
        )


def _chosen(rings: Sequence[_Ring], reads: Signal) -> Value:
    """The row of the ring that is read."""
    return reduce(or_, (Mux(read, ring.row, 0) for read, ring in zip(reads, rings, strict=True)))


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
