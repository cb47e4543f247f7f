"""A cache of lines that goes on while lines are on their way: the machinery of both levels of the input cache.

An access is looked up in the tags at once, long before its data is needed. A line that is missing is asked for and
counts as present from then on. The accesses then wait in a queue, in order, and read their rows at its end. An access
that missed waits there until its line has come, and one that hit for nothing: whoever asked for its line was in front
of it. Lines may come in any order, as each has a row and a tag from the time when it is asked for.

A new line never goes into the row of the line that it replaces, which accesses in the queue may still have to read,
but into a free one. The old row is free when the access that replaced it leaves the queue. So a line can always be
replaced, accesses that are under way need not be counted, and an uncached line is one whose row is free again after its
own access. The price is one spare row for each line under way. (Prefetching in this form: Igehy, Eldridge, Proudfoot,
"Prefetching in a Texture Cache Architecture", 1998; there the spare rows are a reorder buffer from which lines are
copied.)
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import FIFOInterface, SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, TaggedLineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.rings import next_index
from ctm.rtl.mc.lines.rows import line_of, row_of_parts, write_part
from ctm.rtl.mc.lines.tags import FreeList, LineTags, entry_layout, row_layout

_SMALLEST_QUEUE = 4
_BLOCK_RAM_QUEUE = 128
"""From this length on the queue is in block RAM, which takes a cycle more."""
_REQUESTS = 2


def access_layout(passenger: ShapeLike) -> data.StructLayout:
    """An access to a line, or, without `reads`, to none. The passenger comes back with the result."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "reads": 1, "uncached": 1, "passenger": passenger})


def result_layout(passenger: ShapeLike) -> data.StructLayout:
    """An access's line; with `error` the bits mean nothing, as without `reads`."""
    return data.StructLayout({"bits": LINE_BITS, "error": 1, "passenger": passenger})


class LineCache(wiring.Component):
    """Reads lines, in order; those that it has, `latency` cycles after their access, and one in each cycle.

    At most `outstanding` lines are asked for and have not been waited for; a line that is on its way is not asked for
    again. At most `waiting` accesses, as many as lines if it is not given, wait for lines or for those in front of
    them. The answer to a request is expected any number of cycles, at least one, after it is taken, and in any order. A
    line that memory refuses is refused to all who were waiting for it, and asked for again by who comes later. An
    uncached line is always asked for, whether the cache has it or not, and not kept.

    Members
    -------
    access : ``In(stream.Signature(access_layout(passenger)))``
    result : ``Out(stream.Signature(result_layout(passenger)))``
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))``
    invalidate : ``In(1)``
        Forget all lines; only while idle and no access is offered.
    idle : ``Out(1)``
        All results have been taken.
    hit, miss : ``Out(1)``
        An access, not an uncached one, found its line, or did not.
    """

    def __init__(
        self,
        config: CacheConfig,
        passenger: ShapeLike,
        *,
        outstanding: int,
        waiting: int | None = None,
        slice_bits: int = LINE_BITS,
    ) -> None:
        if outstanding < 1:
            raise ValueError(f"outstanding must be at least 1, not {outstanding}")
        self._config, self._outstanding, self._part_bits = config, outstanding, slice_bits
        self._waiting = max(waiting or outstanding, _SMALLEST_QUEUE)
        in_block_ram = self._waiting >= _BLOCK_RAM_QUEUE
        self._queue = SyncFIFOBuffered if in_block_ram else SyncFIFO
        self.latency = 3 if in_block_ram else 2
        self._rows = config.sets * config.ways + outstanding
        self._entry = data.StructLayout(
            {"row": range(self._rows), "reads": 1, "waits": 1, "freed": row_layout(self._rows), "passenger": passenger}
        )
        super().__init__(
            {
                "access": In(stream.Signature(access_layout(passenger))),
                "result": Out(stream.Signature(result_layout(passenger))),
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
        m.submodules.pool = pool = FreeList(self._rows)
        # A ring of places for lines that are asked for: which have come, the first one that is waited for, how many.
        # There are as many spare rows, so that with a place there is always a row.
        depth = self._outstanding
        arrived, first, count = Signal(depth), Signal(range(depth)), Signal(range(depth + 1))
        asks, fill_row = self._look_up(m, queue, pool, count != depth)
        m.submodules.memory = memory = BlockRam(row_of_parts(self._part_bits), self._rows)
        response = self.lines.response
        whole = write_part(m, memory, fill_row, response.payload, response.valid)
        consumes = self._read(m, queue, pool, memory, arrived.bit_select(first, 1))
        m.d.sync += count.eq(count + asks - consumes)
        with m.If(consumes):
            m.d.sync += [first.eq(next_index(first, depth)), arrived.bit_select(first, 1).eq(0)]
        with m.If(whole):
            m.d.sync += arrived.bit_select(response.payload.tag, 1).eq(1)
        m.d.comb += self.miss.eq(asks & ~self.access.payload.uncached)
        return m

    def _look_up(self, m: Module, queue: FIFOInterface, pool: FreeList, has_place: Value) -> tuple[Value, Value]:
        """The front: an access goes into the queue, a line that is missing is asked for, if there is a place.

        Returns whether one is asked for, and the row of the line that comes.
        """
        access = self.access.payload
        m.submodules.tags = tags = LineTags(self._config, self._rows)
        request, following = Signal.like(self.lines.request.payload), Signal(range(self._outstanding))
        m.submodules.requests = requests = SyncFIFO(width=len(Value.cast(request)), depth=_REQUESTS)
        coming_layout = data.StructLayout(
            {"row": range(self._rows), "entry": entry_layout(self._config), "uncached": 1}
        )
        m.submodules.coming = coming = DistributedRam(coming_layout, self._outstanding)

        # Whether it hits has no part in whether an access is taken, so that this is known early.
        taken, present, asks = Signal(), Signal(), Signal()
        # A refused line is forgotten in the cycle behind its answer, in which nobody looks for one.
        forgotten = Signal.like(tags.forget)
        m.d.comb += [
            self.access.ready.eq(queue.w_rdy & requests.w_rdy & has_place & ~forgotten.valid),
            taken.eq(self.access.valid & self.access.ready),
            present.eq(tags.hit & ~access.uncached),
            asks.eq(taken & access.reads & ~present),
            self.hit.eq(taken & access.reads & present),
            tags.line.eq(access.line),
            tags.put.valid.eq(asks & ~access.uncached),
            tags.put.row.eq(pool.row.row),
            tags.invalidate.eq(self.invalidate),
            pool.take.eq(asks),
        ]
        entry = Signal(self._entry)
        destination = Signal(coming_layout)
        m.d.comb += [
            entry.row.eq(Mux(present, tags.row, pool.row.row)),
            entry.reads.eq(access.reads),
            entry.waits.eq(asks),
            entry.freed.valid.eq(asks & (access.uncached | tags.owned.valid)),
            entry.freed.row.eq(Mux(access.uncached, pool.row.row, tags.owned.row)),
            entry.passenger.eq(access.passenger),
            queue.w_en.eq(taken),
            queue.w_data.eq(entry),
            request.line.eq(access.line),
            request.uncached.eq(access.uncached),
            request.tag.eq(following),
            requests.w_en.eq(asks),
            requests.w_data.eq(request),
            destination.row.eq(pool.row.row),
            destination.entry.eq(tags.entry),
            destination.uncached.eq(access.uncached),
        ]
        coming.write(m, following, destination, asks)
        with m.If(asks):
            m.d.sync += following.eq(next_index(following, self._outstanding))

        response = self.lines.response
        comes = coming.read(m, response.payload.tag)
        m.d.comb += [
            Value.cast(self.lines.request.payload).eq(requests.r_data),
            self.lines.request.valid.eq(requests.r_rdy),
            requests.r_en.eq(self.lines.request.ready),
            tags.forget.eq(forgotten),
        ]
        m.d.sync += [
            forgotten.valid.eq(response.valid & response.payload.error & ~comes.uncached),
            forgotten.entry.eq(comes.entry),
        ]
        return asks, comes.row

    def _read(self, m: Module, queue: FIFOInterface, pool: FreeList, memory: BlockRam, has_come: Value) -> Value:
        """The back: rows are read in the queue's order. Whether a line was waited for."""
        reader, result = memory.read_port(), self.result
        line = line_of(reader.data)
        head, goes = self._entry(queue.r_data), Signal()
        held, reads = Signal.like(result.payload.passenger), Signal()
        m.d.comb += [
            goes.eq(queue.r_rdy & (~head.waits | has_come) & (~result.valid | result.ready)),
            queue.r_en.eq(goes),
            reader.addr.eq(head.row),
            reader.en.eq(goes),
            pool.give.valid.eq(goes & head.freed.valid),
            pool.give.row.eq(head.freed.row),
            result.payload.bits.eq(line.bits),
            result.payload.error.eq(reads & line.error),
            result.payload.passenger.eq(held),
            self.idle.eq(~queue.level.any() & ~result.valid),
        ]
        with m.If(goes):
            m.d.sync += [held.eq(head.passenger), reads.eq(head.reads)]
        with m.If(goes | result.ready):
            m.d.sync += result.valid.eq(goes)
        return Value.cast(goes & head.waits)
