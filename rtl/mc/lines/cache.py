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

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, TaggedLineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.mc.lines.refills import RefillTable
from ctm.rtl.mc.lines.rows import LineRows
from ctm.rtl.mc.lines.tags import FreeList, LineTags, row_layout

_SMALLEST_QUEUE = 4
_BLOCK_RAM_QUEUE = 128
"""From this length on the queue is in block RAM, with one cycle more of latency."""
_BLOCK_RAM_SETS = 32
"""From this number on the tags are in block RAM, which is read while an access is registered."""


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
        # There are as many spare rows as refills, so a refill that has an entry always has a free row.
        m.submodules.refills = refills = RefillTable(
            self._config, rows=self._rows, outstanding=self._outstanding, slice_bits=self._slice_bits
        )
        m.submodules.rows = rows = LineRows(self._rows, self._slice_bits, self._sector_bits)
        connect(m, refills.lines, flipped(self.lines))
        m.d.comb += rows.fill.eq(refills.fill)
        self._look_up(m, queue, free_list, refills)
        self._read(m, queue, free_list, rows, refills)
        return m

    def _look_up(self, m: Module, queue: FIFOInterface, free_list: FreeList, refills: RefillTable) -> None:
        """The front: puts an access into the queue and requests its line on a miss, if one can be requested."""
        # An access is chosen in one cycle, and looked up in the next.
        m.submodules.taken = slice_ = RegisterSlice(self._access, SliceMode.FORWARD)
        connect(m, flipped(self.access), slice_.input)
        offered, access = slice_.output, slice_.output.payload
        synchronous = self._config.sets >= _BLOCK_RAM_SETS
        m.submodules.tags = tags = LineTags(self._config, self._rows, synchronous=synchronous)
        if synchronous:
            m.d.comb += [tags.next_line.eq(self.access.payload.line), tags.advances.eq(self.access.ready)]
        begin, entry = refills.begin, Signal(self._entry)
        # `ready` does not depend on the hit, which is late in the cycle.
        taken, present = Signal(), Signal()
        m.d.comb += [
            offered.ready.eq(queue.w_rdy & refills.ready),
            taken.eq(offered.valid & offered.ready),
            present.eq(tags.hit & ~access.uncached),
            tags.line.eq(access.line),
            tags.put.valid.eq(begin.valid & ~access.uncached),
            tags.put.row.eq(free_list.row.row),
            tags.invalidate.eq(self.invalidate),
            # A line with an error is invalidated in a cycle in which no access is taken.
            tags.invalidate_entry.eq(refills.failed),
            free_list.take.eq(begin.valid),
            begin.valid.eq(taken & access.reads & ~present),
            begin.line.eq(access.line),
            begin.uncached.eq(access.uncached),
            begin.row.eq(free_list.row.row),
            begin.entry.eq(tags.entry),
            entry.row.eq(Mux(present, tags.row, free_list.row.row)),
            entry.sector.eq(access.sector),
            entry.reads.eq(access.reads),
            entry.waits.eq(begin.valid),
            entry.freed.valid.eq(begin.valid & (access.uncached | tags.owned.valid)),
            entry.freed.row.eq(Mux(access.uncached, free_list.row.row, tags.owned.row)),
            entry.passenger.eq(access.passenger),
            queue.w_en.eq(taken),
            queue.w_data.eq(entry),
        ]
        m.d.sync += [
            self.hit.eq(taken & access.reads & present),
            self.miss.eq(begin.valid & ~access.uncached),
            Value.cast(self.looked_up).eq(access.passenger),
        ]

    def _read(self, m: Module, queue: FIFOInterface, free_list: FreeList, rows: LineRows, refills: RefillTable) -> None:
        """The back: reads rows in the queue's order."""
        result, head, advances = self.result, self._entry(queue.r_data), Signal()
        held, reads = Signal.like(result.payload.passenger), Signal()
        m.d.comb += [
            advances.eq(queue.r_rdy & (~head.waits | refills.arrived) & (~result.valid | result.ready)),
            queue.r_en.eq(advances),
            refills.consume.eq(advances & head.waits),
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
