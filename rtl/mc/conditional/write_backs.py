"""The write-back buffer of a cache. A line in it must not be read from memory."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import BUS_FAULT
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import (
    LINE_ADDRESS_BITS,
    LINE_BITS,
    LINE_OFFSET_BITS,
    LINE_WRITTEN,
    line_write_layout,
    read_bits,
)
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.status import BusClient
from ctm.rtl.mc.lines.slice_walk import SliceWalk

LOST = data.StructLayout({"valid": 1, "fault": BUS_FAULT})
"""For one cycle: an access with an error response."""


class Eviction(Interface):
    """The lines that are evicted from a cache, seen from the cache.

    Members
    -------
    enter : ``Out({valid, line})``
        A line enters, and gets the entry `index`; only with `has_space`.
    has_space : ``In(1)``
    index : ``In(range(entries))``
    line : ``Out(26)``
        The line of an access, which may be any.
    evicting : ``In(1)``
        `line` has an entry: its dirty bytes have no write response yet.
    """

    def __init__(self, entries: int) -> None:
        super().__init__(
            {
                "enter": Out(data.StructLayout({"valid": 1, "line": LINE_ADDRESS_BITS})),
                "has_space": In(1),
                "index": In(range(entries)),
                "line": Out(LINE_ADDRESS_BITS),
                "evicting": In(1),
            }
        )


class RowReads(Interface):
    """The reads of rows that are written back, seen from the reader. At most one slice is read in two cycles.

    Members
    -------
    free : ``In(1)``
        A slice may be read in this cycle.
    reads : ``Out(1)``
        A slice is read; only in a cycle with `free`.
    row, slice : ``Out(range(rows))``, ``Out(range(slices))``
        The slice, of `bits` bits.
    cleans : ``Out(1)``
        It is the row's last one: the row is clean from the next cycle on.
    bits : ``In(bits)``
        The bytes of the slice that was read in the previous cycle.
    """

    def __init__(self, rows: int, bits: int) -> None:
        super().__init__(
            {
                "free": In(1),
                "reads": Out(1),
                "row": Out(range(rows)),
                "slice": Out(range(LINE_BITS // bits)),
                "cleans": Out(1),
                "bits": In(bits),
            }
        )


class WriteBacks(wiring.Component):
    """Writes evicted lines to memory, in the order of their eviction.

    A line *enters* when it is evicted, and takes an entry. Its row is *released* after its last change: a clean row is
    free at once. The slices of another row, from the first to the last one with a dirty byte, are read and written; the
    write response frees the entry.

    Members
    -------
    eviction : ``In(Eviction(entries))``
    release : ``In({valid, row, index, is_kept})``
        Rows come in the order in which their lines have entered. A row that `is_kept` is not freed.
    row : ``Out(range(rows))``
        A row that was released.
    mask : ``In(64)``
        Its dirty bytes.
    rows : ``Out(RowReads(rows, read_bits(slice_bits)))``
    done : ``Out({valid, row})``
        The row is free.
    line_write : ``Out(stream.Signature(line_write_layout(slice_bits)))``
    line_written : ``In(stream.Signature(LINE_WRITTEN))``
        Not taken in a cycle with `hold`.
    hold : ``In(1)``
    lost : ``Out(LOST)``
        A write has an error response.
    empty : ``Out(1)``
        No entry is in use.
    """

    def __init__(self, client: BusClient, *, rows: int, entries: int, slice_bits: int = LINE_BITS) -> None:
        self._client, self._entries, self._slice_bits = client, entries, slice_bits
        bits = read_bits(slice_bits)
        # Slices that are read together.
        self._low = (bits // slice_bits - 1).bit_length()
        self._release = data.StructLayout({"valid": 1, "row": range(rows), "index": range(entries), "is_kept": 1})
        super().__init__(
            {
                "eviction": In(Eviction(entries)),
                "release": In(self._release),
                "row": Out(range(rows)),
                "mask": In(CacheConfig.LINE_BYTES),
                "rows": Out(RowReads(rows, bits)),
                "done": Out(data.StructLayout({"valid": 1, "row": range(rows)})),
                "line_write": Out(stream.Signature(line_write_layout(slice_bits))),
                "line_written": In(stream.Signature(LINE_WRITTEN)),
                "hold": In(1),
                "lost": Out(LOST),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        taken = Signal(self._entries)
        lines = Array(Signal(LINE_ADDRESS_BITS, name=f"line_{index}") for index in range(self._entries))
        eviction = self.eviction
        m.d.comb += [
            eviction.has_space.eq(~taken.bit_select(eviction.index, 1)),
            eviction.evicting.eq((Cat(line == eviction.line for line in lines) & taken).any()),
            self.empty.eq(~taken.any()),
        ]
        with m.If(eviction.enter.valid):
            m.d.sync += [
                taken.bit_select(eviction.index, 1).eq(1),
                lines[eviction.index].eq(eviction.enter.line),
                eviction.index.eq(Mux(eviction.index == self._entries - 1, 0, eviction.index + 1)),
            ]
        for valid, index in (self._write(m, lines), self._complete(m, lines)):
            with m.If(valid):
                m.d.sync += taken.bit_select(index, 1).eq(0)
        return m

    def _write(self, m: Module, lines: Array) -> tuple[Value, Value]:
        """Read released rows and offer their dirty bytes. Returns whether an entry is free, as its row is clean."""
        m.submodules.released = released = SyncFIFO(width=self._release.size, depth=self._entries)
        m.submodules.order = order = SyncFIFO(width=len(self.eviction.index), depth=self._entries)
        m.submodules.walk = walk = SliceWalk(self._slice_bits)
        rows = self.rows
        next_, write, arrives, leaves = self._release(released.r_data), self.line_write, Signal(), Signal()
        # The first row that was released. It does not change any more, so its mask is registered here.
        first, mask, dirty = Signal(self._release), Signal(CacheConfig.LINE_BYTES, reset_less=True), Signal()
        m.d.comb += [
            released.w_data.eq(self.release),
            released.w_en.eq(self.release.valid),
            released.r_en.eq(~first.valid | leaves),
            self.row.eq(next_.row),
            rows.reads.eq(first.valid & dirty & rows.free & ~arrives & (~write.valid | write.ready)),
            leaves.eq(first.valid & (~dirty | rows.cleans)),
            order.w_data.eq(first.index),
            order.w_en.eq(rows.cleans),
            walk.mask.eq(mask),
            walk.steps.eq(rows.reads),
            rows.row.eq(first.row),
            rows.slice.eq(walk.slice[self._low :]),
            rows.cleans.eq(rows.reads & ~walk.remaining.any()),
            self.done.valid.eq(leaves & ~first.is_kept),
            self.done.row.eq(first.row),
        ]
        with m.If(released.r_en):
            m.d.sync += [first.eq(next_), first.valid.eq(released.r_rdy), mask.eq(self.mask), dirty.eq(self.mask.any())]
        m.d.sync += arrives.eq(rows.reads)
        with m.If(write.ready):
            m.d.sync += write.valid.eq(0)
        with m.If(rows.reads):
            m.d.sync += [
                write.payload.line.eq(lines[first.index]),
                write.payload.mask.eq(mask.word_select(walk.slice, len(write.payload.mask))),
                write.payload.slice.eq(walk.slice),
                write.payload.remaining.eq(walk.remaining),
            ]
        with m.If(arrives):
            inside = write.payload.slice[: self._low]
            m.d.sync += [write.payload.bits.eq(rows.bits.word_select(inside, self._slice_bits)), write.valid.eq(1)]
        return first.valid & ~dirty, first.index

    def _complete(self, m: Module, lines: Array) -> tuple[Value, Value]:
        """Take write responses. Returns whether an entry is free, and its index."""
        order, written, responded = m.submodules.order, self.line_written, Signal()
        m.d.comb += [
            written.ready.eq(order.r_rdy & ~self.hold),
            responded.eq(written.valid & written.ready),
            order.r_en.eq(responded),
            self.lost.valid.eq(responded & written.payload.error),
            self.lost.fault.client.eq(self._client),
            self.lost.fault.address.eq(lines[order.r_data] << LINE_OFFSET_BITS),
        ]
        return responded, order.r_data
