"""The cache of the conditional buffer: a non-blocking write-back cache with dirty bytes.

As in `rtl/mc/lines/cache.py` the tags are updated when a line is requested, accesses wait in a queue, in order, and a
refill goes into a free row. The access that evicts a line releases its row at the end of the queue: all accesses to the
row were before it, so the row has their changes. No access to an evicted line passes the tags before the write
response.

A line that is only written is not read: its row has its dirty bytes only. The first access that reads the line requests
it, and the refill writes all bytes but the dirty ones.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import WORD_INDEX_BITS, ConditionalAccess
from ctm.rtl.border.lines import (
    LINE_BITS,
    LINE_OFFSET_BITS,
    LINE_REQUEST,
    LINE_WRITTEN,
    LineClient,
    is_last_slice,
    line_write_layout,
    read_bits,
)
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.status import BusClient
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.mc.conditional.dirty_rows import DirtyRows
from ctm.rtl.mc.conditional.pipeline import AccessPipeline
from ctm.rtl.mc.conditional.tags import ConditionalTags
from ctm.rtl.mc.conditional.write_backs import LOST, WriteBacks

DEFAULT = CacheConfig(sets=4, ways=4)
"""Two rows of a linear buffer often map to the same set, so the cache has several ways."""

_CLIENT = BusClient.CONDITIONAL_OUTPUT

_REQUESTS = 2


class ConditionalCache(wiring.Component):
    """Reads words and changes them, in order. Hits: three cycles of latency, one access in each cycle.

    A result sees all changes made by earlier accesses. At most `outstanding` refills and as many write-backs are in
    flight, and `waiting` accesses are in the queue.

    An error response to a refill goes to all accesses that wait for the line; its dirty bytes stay, and the next access
    requests it again. An error response to a write-back loses its bytes. An access that only writes has no error.

    Members
    -------
    client : ``In(ConditionalAccess(passenger))``
        The conditional unit.
    lines : ``Out(LineClient(read_bits(slice_bits)))``
        In the order of the requests, any number of cycles, at least one, after them. All slices are taken at once.
    line_write : ``Out(stream.Signature(line_write_layout(slice_bits)))``
    line_written : ``In(stream.Signature(LINE_WRITTEN))``
        In the order of the writes.
    invalidate : ``In(1)``
        Invalidate all bytes that are not dirty; only while idle and no access is offered.
    flush : ``In(1)``
        Write back all dirty bytes; to be held until `flushed`. No access is taken meanwhile. Lines stay, clean.
    flushed : ``Out(1)``
        Memory has all bytes. Combinational, only with `flush`.
    idle : ``Out(1)``
        All results have been taken, and no memory access is in flight.
    lost : ``Out(LOST)``
        A refill or a write-back has an error; with its address.
    hit, miss : ``Out(1)``
        An access hit, with all bytes that it reads, or missed.
    """

    def __init__(
        self,
        passenger: ShapeLike,
        config: CacheConfig = DEFAULT,
        *,
        outstanding: int = 8,
        waiting: int = 32,
        slice_bits: int = LINE_BITS,
    ) -> None:
        if outstanding < 2:
            raise ValueError(f"outstanding must be at least 2, not {outstanding}")
        if waiting < 2:
            raise ValueError(f"waiting must be at least 2, not {waiting}")
        self._config, self._outstanding, self._waiting, self._slice_bits = config, outstanding, waiting, slice_bits
        self._rows = config.sets * config.ways + outstanding
        self._row_bits = read_bits(slice_bits)
        # Whole lines are written back by the port by which accesses read.
        self._sliced = self._row_bits < LINE_BITS
        row = range(self._rows)
        released = data.StructLayout({"valid": 1, "row": row, "index": range(outstanding)})
        self._entry = data.StructLayout(
            {
                "row": row,
                "word": WORD_INDEX_BITS,
                "reads": 1,
                "waits": 1,
                "released": released,
                "passenger": passenger,
            }
        )
        super().__init__(
            {
                "client": In(ConditionalAccess(passenger)),
                "lines": Out(LineClient(self._row_bits)),
                "line_write": Out(stream.Signature(line_write_layout(slice_bits))),
                "line_written": In(stream.Signature(LINE_WRITTEN)),
                "invalidate": In(1),
                "flush": In(1),
                "flushed": Out(1),
                "idle": Out(1),
                "lost": Out(LOST),
                "hit": Out(1),
                "miss": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.queue = SyncFIFO(width=self._entry.size, depth=self._waiting)
        m.submodules.pending = SyncFIFO(width=(self._rows - 1).bit_length(), depth=self._outstanding)
        m.submodules.rows = DirtyRows(self._rows, self._row_bits)
        m.submodules.back = AccessPipeline(
            self._entry, rows=self._rows, slice_bits=self._row_bits, waiting=self._waiting
        )
        m.submodules.tags = ConditionalTags(self._config, self._rows)
        m.submodules.write_backs = WriteBacks(
            _CLIENT, rows=self._rows, entries=self._outstanding, slice_bits=self._slice_bits
        )
        self._look_up(m)
        error = self._fill(m)
        self._go_through(m, error)
        self._evict(m)
        return m

    def _look_up(self, m: Module) -> None:
        """The front: puts an access into the queue, and requests a missing line."""
        queue, pending, tags = m.submodules.queue, m.submodules.pending, m.submodules.tags
        write_backs = m.submodules.write_backs
        m.submodules.requests = requests = SyncFIFO(width=LINE_REQUEST.size, depth=_REQUESTS)
        access, entry, request = self.client.access.payload, Signal(self._entry), Signal(LINE_REQUEST)
        has_space = queue.w_rdy & pending.w_rdy & requests.w_rdy & write_backs.eviction.has_space & tags.ready
        # `ready` does not depend on the hit, which is late in the cycle.
        taken = self.client.access.valid & self.client.access.ready
        m.d.comb += [
            write_backs.eviction.line.eq(access.line),
            self.client.access.ready.eq(has_space & ~self.flush & ~(access.touches & write_backs.eviction.evicting)),
            tags.line.eq(access.line),
            tags.reads.eq(access.reads),
            tags.take.eq(taken & access.touches),
            tags.invalidate.eq(self.invalidate),
            self.hit.eq(tags.take & tags.hit),
            self.miss.eq(tags.take & ~tags.hit),
        ]
        m.d.comb += [
            entry.row.eq(tags.row),
            entry.word.eq(access.word),
            entry.reads.eq(access.touches & access.reads),
            entry.waits.eq(tags.refills),
            entry.released.valid.eq(tags.replaced.valid),
            entry.released.row.eq(tags.replaced.row),
            entry.released.index.eq(write_backs.eviction.index),
            entry.passenger.eq(access.passenger),
            request.line.eq(access.line),
            queue.w_data.eq(entry),
            queue.w_en.eq(taken),
            pending.w_data.eq(tags.row),
            pending.w_en.eq(tags.refills),
            requests.w_data.eq(request),
            requests.w_en.eq(tags.refills),
            requests.r_en.eq(self.lines.request.ready),
            self.lines.request.valid.eq(requests.r_rdy),
            Value.cast(self.lines.request.payload).eq(requests.r_data),
        ]

    def _fill(self, m: Module) -> Signal:
        """Write a refill. Returns the rows whose lines have an error."""
        pending, rows = m.submodules.pending, m.submodules.rows
        tags, write_backs = m.submodules.tags, m.submodules.write_backs
        response, row, error = self.lines.response, pending.r_data, Signal(self._rows, name="error")
        filled = self._filled()
        fails = filled & response.payload.error
        m.d.comb += [
            response.ready.eq(1),
            pending.r_en.eq(filled),
            rows.fill.valid.eq(response.valid),
            rows.fill.row.eq(row),
            rows.fill.slice.eq(response.payload.slice),
            rows.fill.bits.eq(response.payload.bits),
            tags.selected[1].eq(row),
            tags.error.valid.eq(fails),
            tags.error.row.eq(row),
            write_backs.hold.eq(fails),
            self.lost.eq(write_backs.lost),
        ]
        with m.If(fails):
            m.d.comb += [
                self.lost.valid.eq(1),
                self.lost.fault.client.eq(_CLIENT),
                self.lost.fault.address.eq(tags.lines[1] << LINE_OFFSET_BITS),
            ]
        with m.If(filled):
            m.d.sync += error.bit_select(row, 1).eq(response.payload.error)
        return error

    def _filled(self) -> Value:
        """Whether the last slice of a line comes."""
        response = self.lines.response
        return Value.cast(response.valid & is_last_slice(response.payload))

    def _go_through(self, m: Module, error: Signal) -> None:
        """The back: connect the pipeline to the queue, the client and the rows."""
        queue, back, rows = m.submodules.queue, m.submodules.back, m.submodules.rows
        write_backs, client = m.submodules.write_backs, self.client
        wiring.connect(m, back.rows, rows.access)
        m.d.comb += [
            Value.cast(back.access.payload).eq(queue.r_data),
            back.access.valid.eq(queue.r_rdy),
            queue.r_en.eq(back.access.ready),
            back.fill.valid.eq(self.lines.response.valid),
            back.fill.last.eq(self._filled()),
            back.error.eq(error),
            client.result.eq(back.result),
            back.ready.eq(client.ready),
            back.change.eq(client.change),
            client.empty.eq(back.empty),
            write_backs.release.valid.eq(back.released.valid),
            write_backs.release.row.eq(back.released.row),
            write_backs.release.index.eq(back.released.index),
        ]

    def _evict(self, m: Module) -> None:
        """Evict lines that are replaced, and, during a flush, write back all that have dirty bytes."""
        rows, tags, back, write_backs = (
            m.submodules.rows, m.submodules.tags, m.submodules.back, m.submodules.write_backs,
        )  # fmt: skip
        flushing, released, row = Signal(), Signal(self._rows), Signal(range(self._rows))
        remaining = rows.soiled & ~released
        releases = flushing & write_backs.eviction.has_space & remaining.any()
        drained = self.client.empty & write_backs.empty
        m.d.comb += [
            row.eq(one_hot_index(lowest_one(remaining))),
            tags.selected[0].eq(Mux(flushing, row, tags.replaced.row)),
            tags.free.eq(write_backs.done),
            write_backs.eviction.enter.valid.eq(tags.replaced.valid | releases),
            write_backs.eviction.enter.line.eq(tags.lines[0]),
            rows.selected.eq(write_backs.row),
            write_backs.mask.eq(rows.dirty),
            rows.clean.valid.eq(write_backs.rows.cleans),
            rows.clean.row.eq(write_backs.rows.row),
            self.idle.eq(drained & ~back.unwritten),
            self.flushed.eq(self.flush & flushing & drained & ~rows.soiled.any()),
        ]
        # A flush begins when earlier write-backs have their responses, so that no row is released twice.
        m.d.sync += flushing.eq(self.flush & (flushing | drained))
        with m.If(~flushing):
            m.d.sync += released.eq(0)
        with m.If(releases):
            m.d.comb += [
                write_backs.release.valid.eq(1),
                write_backs.release.row.eq(row),
                write_backs.release.index.eq(write_backs.eviction.index),
                write_backs.release.is_kept.eq(1),
            ]
            m.d.sync += released.bit_select(row, 1).eq(1)
        port, bits = (rows.write_back, rows.write_back_bits) if self._sliced else (back.other, rows.access.bits)
        m.d.comb += [
            port.valid.eq(write_backs.rows.reads),
            port.row.eq(write_backs.rows.row),
            port.slice.eq(write_backs.rows.slice),
            write_backs.rows.free.eq(1 if self._sliced else back.free),
            write_backs.rows.bits.eq(bits),
        ]
        wiring.connect(m, write_backs.line_write, wiring.flipped(self.line_write))
        wiring.connect(m, wiring.flipped(self.line_written), write_backs.line_written)
