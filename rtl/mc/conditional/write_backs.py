"""Lines that leave a cache: what of them is dirty is written to memory, and until then nobody may read them there."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import BUS_FAULT
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_OFFSET_BITS, LINE_WRITE, LINE_WRITTEN
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.status import BusClient

LOST = data.StructLayout({"valid": 1, "fault": BUS_FAULT})
"""For one cycle: an access that memory refused."""


class WriteBacks(wiring.Component):
    """Writes lines to memory that leave the cache, in the order in which they leave.

    A line *enters* when it is decided that it leaves, and takes a place. When nothing will change its row any more, the
    row is *released*: a clean one is done at once. The dirty bytes of another are read in a cycle in which `may_read`,
    and written; the place is free when memory has answered. One row is read in two cycles at most.

    Members
    -------
    enter : ``In({valid, line})``
        Only with `room`. The line gets the place `place`.
    room : ``Out(1)``
    place : ``Out(range(places))``
    line : ``In(26)``
    leaving : ``Out(1)``
        Whether `line` has entered, and memory has not yet what is dirty in it.
    release : ``In({valid, row, place, stays})``
        Rows come in the order in which their lines have entered. One that `stays` is not given back.
    row : ``Out(range(rows))``
        A row that was released.
    mask : ``In(64)``
        Its dirty bytes.
    may_read : ``In(1)``
    reads : ``Out(1)``
        `read_row` is read: its bytes are `bits` in the next cycle, and it is clean from then on.
    read_row : ``Out(range(rows))``
    bits : ``In(512)``
    done : ``Out({valid, row})``
        The row is free.
    line_write : ``Out(stream.Signature(LINE_WRITE))``
    line_written : ``In(stream.Signature(LINE_WRITTEN))``
        Not taken in a cycle with `hold`.
    hold : ``In(1)``
    lost : ``Out(LOST)``
        Memory has refused a write.
    empty : ``Out(1)``
        No place is taken.
    """

    def __init__(self, client: BusClient, *, rows: int, places: int) -> None:
        self._client, self._places = client, places
        self._release = data.StructLayout({"valid": 1, "row": range(rows), "place": range(places), "stays": 1})
        super().__init__(
            {
                "enter": In(data.StructLayout({"valid": 1, "line": LINE_ADDRESS_BITS})),
                "room": Out(1),
                "place": Out(range(places)),
                "line": In(LINE_ADDRESS_BITS),
                "leaving": Out(1),
                "release": In(self._release),
                "row": Out(range(rows)),
                "mask": In(CacheConfig.LINE_BYTES),
                "may_read": In(1),
                "reads": Out(1),
                "read_row": Out(range(rows)),
                "bits": In(LINE_BITS),
                "done": Out(data.StructLayout({"valid": 1, "row": range(rows)})),
                "line_write": Out(stream.Signature(LINE_WRITE)),
                "line_written": In(stream.Signature(LINE_WRITTEN)),
                "hold": In(1),
                "lost": Out(LOST),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        taken = Signal(self._places)
        lines = Array(Signal(LINE_ADDRESS_BITS, name=f"line_{place}") for place in range(self._places))
        m.d.comb += [
            self.room.eq(~taken.bit_select(self.place, 1)),
            self.leaving.eq((Cat(line == self.line for line in lines) & taken).any()),
            self.empty.eq(~taken.any()),
        ]
        with m.If(self.enter.valid):
            m.d.sync += [
                taken.bit_select(self.place, 1).eq(1),
                lines[self.place].eq(self.enter.line),
                self.place.eq(Mux(self.place == self._places - 1, 0, self.place + 1)),
            ]
        for valid, place in (self._write(m, lines), self._answer(m, lines)):
            with m.If(valid):
                m.d.sync += taken.bit_select(place, 1).eq(0)
        return m

    def _write(self, m: Module, lines: Array) -> tuple[Value, Value]:
        """Released rows are read and their bytes offered. Whether a place is free, as its line is clean, and which."""
        m.submodules.released = released = SyncFIFO(width=self._release.size, depth=self._places)
        m.submodules.order = order = SyncFIFO(width=len(self.place), depth=self._places)
        next_, write, arrives, leaves = self._release(released.r_data), self.line_write, Signal(), Signal()
        # The first row that was released. It does not change any more, so that its mask may wait here.
        first, mask, dirty = Signal(self._release), Signal(CacheConfig.LINE_BYTES, reset_less=True), Signal()
        m.d.comb += [
            released.w_data.eq(self.release),
            released.w_en.eq(self.release.valid),
            released.r_en.eq(~first.valid | leaves),
            self.row.eq(next_.row),
            self.reads.eq(first.valid & dirty & self.may_read & ~arrives & (~write.valid | write.ready)),
            leaves.eq(first.valid & (~dirty | self.reads)),
            order.w_data.eq(first.place),
            order.w_en.eq(self.reads),
            self.read_row.eq(first.row),
            self.done.valid.eq(leaves & ~first.stays),
            self.done.row.eq(first.row),
        ]
        with m.If(released.r_en):
            m.d.sync += [first.eq(next_), first.valid.eq(released.r_rdy), mask.eq(self.mask), dirty.eq(self.mask.any())]
        m.d.sync += arrives.eq(self.reads)
        with m.If(write.ready):
            m.d.sync += write.valid.eq(0)
        with m.If(self.reads):
            m.d.sync += [write.payload.line.eq(lines[first.place]), write.payload.mask.eq(mask)]
        with m.If(arrives):
            m.d.sync += [write.payload.bits.eq(self.bits), write.valid.eq(1)]
        return first.valid & ~dirty, first.place

    def _answer(self, m: Module, lines: Array) -> tuple[Value, Value]:
        """Memory answers. Whether a place is free, and which."""
        order, written, answered = m.submodules.order, self.line_written, Signal()
        m.d.comb += [
            written.ready.eq(order.r_rdy & ~self.hold),
            answered.eq(written.valid & written.ready),
            order.r_en.eq(answered),
            self.lost.valid.eq(answered & written.payload.error),
            self.lost.fault.client.eq(self._client),
            self.lost.fault.address.eq(lines[order.r_data] << LINE_OFFSET_BITS),
        ]
        return answered, order.r_data
