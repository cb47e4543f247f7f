"""A prefetching, non-blocking cache of lines, for both levels of the input cache.

The tags are updated when a line is requested. Accesses then wait in a queue, in order, and read their rows at its end.
An access that missed waits there for its refill. An access that hit does not wait: the access that requested its line
was earlier in the queue. Refills may come in any order, because each has a row and a tag from its request on.

A refill never goes into the row of the line that it evicts, which accesses in the queue may still read, but into a free
row. The old row is free when the access that evicted its line leaves the queue. So every line can be evicted, accesses
in flight are not counted, and an uncached line is one whose row is free after its own access. This takes one spare row
for each refill in flight. (Igehy, Eldridge, Proudfoot, "Prefetching in a Texture Cache Architecture", 1998; there the
spare rows are a reorder buffer from which lines are copied.)
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import FIFOInterface, SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, TaggedLineClient, is_last_slice
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.lib.rings import next_index
from ctm.rtl.mc.lines.rows import LineRows
from ctm.rtl.mc.lines.tags import FreeList, LineTags, entry_layout, row_layout

_SMALLEST_QUEUE = 4
_BLOCK_RAM_QUEUE = 128
"""From this length on the queue is in block RAM, with one cycle more of latency."""
_BLOCK_RAM_SETS = 32
"""From this number on the tags are in block RAM, which is read while an access is registered."""
_REQUESTS = 2


def access_layout(passenger: ShapeLike, sector_bits: int = LINE_BITS) -> data.StructLayout:
    """An access to a sector of a line, or, without `reads`, to none. The result returns the passenger."""
    sector = range(LINE_BITS // sector_bits)
    return data.StructLayout(
        {"line": LINE_ADDRESS_BITS, "sector": sector, "reads": 1, "uncached": 1, "passenger": passenger}
    )


def result_layout(passenger: ShapeLike, sector_bits: int = LINE_BITS) -> data.StructLayout:
    """An access's sector of a line; with `error` the bits mean nothing, as without `reads`."""
    return data.StructLayout({"bits": sector_bits, "error": 1, "passenger": passenger})


class LineCache(wiring.Component):
    """Reads lines, or sectors of them, in order. A hit takes `latency` cycles; throughput is one access in each cycle.

    At most `outstanding` refills are in flight or not yet consumed. At most `waiting` accesses are in the queue,
    `outstanding` by default. A refill takes at least one cycle, and refills may come in any order.

    An error response goes to all accesses that were waiting for the line; the next access requests it again. An
    uncached line is always requested, and is not kept.

    Members
    -------
    access : ``In(stream.Signature(access_layout(passenger, sector_bits)))``
    result : ``Out(stream.Signature(result_layout(passenger, sector_bits)))``
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))``
    invalidate : ``In(1)``
        Invalidate all lines; only while idle and no access is offered.
    idle : ``Out(1)``
        All results have been taken.
    hit, miss : ``Out(1)``
        An access hit or missed in the last cycle; uncached ones do not count.

    Attributes
    ----------
    looked_up
        The passenger of that access, for an observer.
    """

    def __init__(
        self,
        config: CacheConfig,
        passenger: ShapeLike,
        *,
        outstanding: int,
        waiting: int | None = None,
        slice_bits: int = LINE_BITS,
        sector_bits: int = LINE_BITS,
    ) -> None:
        if outstanding < 1:
            raise ValueError(f"outstanding must be at least 1, not {outstanding}")
        self._config, self._outstanding, self._slice_bits = config, outstanding, slice_bits
        self._sector_bits, self._result = sector_bits, result_layout(passenger, sector_bits)
        self._waiting = max(waiting or outstanding, _SMALLEST_QUEUE)
        in_block_ram = self._waiting >= _BLOCK_RAM_QUEUE
        self._queue = SyncFIFOBuffered if in_block_ram else SyncFIFO
        self.latency = 4 if in_block_ram else 3
        self._rows = config.sets * config.ways + outstanding
        self._access = access_layout(passenger, sector_bits)
        self.looked_up = Signal(passenger, reset_less=True)
        self._entry = data.StructLayout(
            {
                "row": range(self._rows),
                "sector": self._access["sector"].shape,
                "reads": 1,
                "waits": 1,
                "freed": row_layout(self._rows),
                "passenger": passenger,
            }
        )
        super().__init__(
            {
                "access": In(stream.Signature(self._access)),
                "result": Out(stream.Signature(self._result)),
                "lines": Out(TaggedLineClient(range(outstanding), slice_bits)),
                "invalidate": In(1),
                "idle": Out(1),
                "hit": Out(1),
                "miss": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.queue = queue = self._queue(width=self._entry.size, depth=self._waiting)
        m.submodules.free_list = free_list = FreeList(self._rows)
        # A ring of refills: those that have arrived, the first one, their number. There are as many spare rows, so a
        # refill with a credit always has a free row.
        depth = self._outstanding
        arrived, first, count = Signal(depth), Signal(range(depth)), Signal(range(depth + 1))
        refills, fill_row = self._look_up(m, queue, free_list, count != depth)
        m.submodules.rows = rows = LineRows(self._rows, self._slice_bits, self._sector_bits)
        response = self.lines.response
        m.d.comb += [
            rows.fill.valid.eq(response.valid),
            rows.fill.row.eq(fill_row),
            rows.fill.bits.eq(response.payload.bits),
            rows.fill.slice.eq(response.payload.slice),
            rows.fill.error.eq(response.payload.error),
        ]
        consumes = self._read(m, queue, free_list, rows, arrived.bit_select(first, 1))
        m.d.sync += count.eq(count + refills - consumes)
        with m.If(consumes):
            m.d.sync += [first.eq(next_index(first, depth)), arrived.bit_select(first, 1).eq(0)]
        with m.If(response.valid & is_last_slice(response.payload)):
            m.d.sync += arrived.bit_select(response.payload.tag, 1).eq(1)
        return m

    def _look_up(self, m: Module, queue: FIFOInterface, free_list: FreeList, has_credit: Value) -> tuple[Value, Value]:
        """The front: puts an access into the queue and requests its line on a miss, if there is a credit.

        Returns whether a line is requested, and the row of the refill that arrives.
        """
        # An access is chosen in one cycle, and looked up in the next.
        m.submodules.taken = slice_ = RegisterSlice(self._access, SliceMode.FORWARD)
        connect(m, flipped(self.access), slice_.input)
        offered, access = slice_.output, slice_.output.payload
        synchronous = self._config.sets >= _BLOCK_RAM_SETS
        m.submodules.tags = tags = LineTags(self._config, self._rows, synchronous=synchronous)
        if synchronous:
            m.d.comb += [tags.next_line.eq(self.access.payload.line), tags.advances.eq(self.access.ready)]
        request, following = Signal.like(self.lines.request.payload), Signal(range(self._outstanding))
        m.submodules.requests = requests = SyncFIFO(width=len(Value.cast(request)), depth=_REQUESTS)
        pending_layout = data.StructLayout(
            {"row": range(self._rows), "entry": entry_layout(self._config), "uncached": 1}
        )
        m.submodules.pending = pending = DistributedRam(pending_layout, self._outstanding)

        # `ready` does not depend on the hit, which is late in the cycle.
        taken, present, refills = Signal(), Signal(), Signal()
        # A line with an error is invalidated in the cycle after its response, in which no access is taken.
        invalid = Signal.like(tags.invalidate_entry)
        m.d.comb += [
            offered.ready.eq(queue.w_rdy & requests.w_rdy & has_credit & ~invalid.valid),
            taken.eq(offered.valid & offered.ready),
            present.eq(tags.hit & ~access.uncached),
            refills.eq(taken & access.reads & ~present),
            tags.line.eq(access.line),
            tags.put.valid.eq(refills & ~access.uncached),
            tags.put.row.eq(free_list.row.row),
            tags.invalidate.eq(self.invalidate),
            free_list.take.eq(refills),
        ]
        m.d.sync += [
            self.hit.eq(taken & access.reads & present),
            self.miss.eq(refills & ~access.uncached),
            Value.cast(self.looked_up).eq(access.passenger),
        ]
        entry = Signal(self._entry)
        destination = Signal(pending_layout)
        m.d.comb += [
            entry.row.eq(Mux(present, tags.row, free_list.row.row)),
            entry.sector.eq(access.sector),
            entry.reads.eq(access.reads),
            entry.waits.eq(refills),
            entry.freed.valid.eq(refills & (access.uncached | tags.owned.valid)),
            entry.freed.row.eq(Mux(access.uncached, free_list.row.row, tags.owned.row)),
            entry.passenger.eq(access.passenger),
            queue.w_en.eq(taken),
            queue.w_data.eq(entry),
            request.line.eq(access.line),
            request.uncached.eq(access.uncached),
            request.tag.eq(following),
            requests.w_en.eq(refills),
            requests.w_data.eq(request),
            destination.row.eq(free_list.row.row),
            destination.entry.eq(tags.entry),
            destination.uncached.eq(access.uncached),
        ]
        pending.write(m, following, destination, refills)
        with m.If(refills):
            m.d.sync += following.eq(next_index(following, self._outstanding))

        response = self.lines.response
        arriving = pending.read(m, response.payload.tag)
        m.d.comb += [
            Value.cast(self.lines.request.payload).eq(requests.r_data),
            self.lines.request.valid.eq(requests.r_rdy),
            requests.r_en.eq(self.lines.request.ready),
            tags.invalidate_entry.eq(invalid),
        ]
        m.d.sync += [
            invalid.valid.eq(response.valid & response.payload.error & ~arriving.uncached),
            invalid.entry.eq(arriving.entry),
        ]
        return refills, arriving.row

    def _read(self, m: Module, queue: FIFOInterface, free_list: FreeList, rows: LineRows, has_arrived: Value) -> Value:
        """The back: reads rows in the queue's order. Returns whether a refill was consumed."""
        result, head, advances = self.result, self._entry(queue.r_data), Signal()
        held, reads = Signal.like(result.payload.passenger), Signal()
        m.d.comb += [
            advances.eq(queue.r_rdy & (~head.waits | has_arrived) & (~result.valid | result.ready)),
            queue.r_en.eq(advances),
            free_list.give.valid.eq(advances & head.freed.valid),
            free_list.give.row.eq(head.freed.row),
            rows.read.valid.eq(advances),
            rows.read.row.eq(head.row),
            rows.read.sector.eq(head.sector),
            result.payload.bits.eq(rows.bits),
            result.payload.error.eq(reads & rows.error),
            result.payload.passenger.eq(held),
            self.idle.eq(m.submodules.taken.empty & ~queue.level.any() & ~result.valid),
        ]
        with m.If(advances):
            m.d.sync += [held.eq(head.passenger), reads.eq(head.reads)]
        with m.If(advances | result.ready):
            m.d.sync += result.valid.eq(advances)
        return Value.cast(advances & head.waits)
