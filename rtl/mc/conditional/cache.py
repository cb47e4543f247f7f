"""The cache of the conditional buffer: words are read, perhaps changed, and written back byte by byte.

As in `line_cache.py` an access is looked up at once, a missing line is asked for and counts as present from then on,
accesses wait in a queue, in order, and a new line goes into a free row. Here rows have dirty bytes as well. The access
that has replaced a line releases its row when it has been through: all accesses to the row were in front of it, so
their changes are in it. Until memory has answered that write-back, no access to the line gets past the tags.

A line that is only written is not read: its row has the dirty bytes and nothing else, until somebody reads it. Then the
line is asked for, and all of it but the dirty bytes goes into the row.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import WORD_INDEX_BITS, ConditionalAccess
from ctm.rtl.border.lines import LINE_OFFSET_BITS, LINE_REQUEST, LINE_WRITE, LINE_WRITTEN, LineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BITS
from ctm.rtl.isa.status import BusClient
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.views import record
from ctm.rtl.mc.conditional.dirty_rows import DirtyRows
from ctm.rtl.mc.conditional.tags import ConditionalTags
from ctm.rtl.mc.conditional.write_backs import LOST, WriteBacks

DEFAULT = CacheConfig(sets=4, ways=4)
"""Two rows of a linear buffer often fall into the same set, so one way would not do."""

_CLIENT = BusClient.CONDITIONAL_OUTPUT

_REQUESTS = 2


class ConditionalCache(wiring.Component):
    """Reads words and changes them, in order, one access in each cycle if lines are present.

    A result comes three cycles after its access; each one sees all changes made by those before it. At most
    `outstanding` lines are asked for, as many are written back, and `waiting` accesses have passed the tags.

    If memory refuses a line, all accesses that wait for it are refused, and it is asked for again by who comes later;
    bytes that were written stay. If memory refuses a write-back, its bytes are lost. As no line is read for an
    access that only writes, such an access is never refused, and memory's refusal shows at the write-back.

    Members
    -------
    client : ``In(ConditionalAccess(passenger))``
        The conditional unit.
    lines : ``Out(LineClient(always_ready=True))``
        In the order of the requests, any number of cycles, at least one, after them.
    line_write : ``Out(stream.Signature(LINE_WRITE))``
    line_written : ``In(stream.Signature(LINE_WRITTEN))``
        In the order of the writes.
    invalidate : ``In(1)``
        Forget all bytes that are not dirty; only while idle and no access is offered.
    flush : ``In(1)``
        Write back all dirty bytes; to be held until `flushed`. No access is taken meanwhile. Lines stay, clean.
    flushed : ``Out(1)``
        Memory has all bytes. Combinational, only with `flush`.
    idle : ``Out(1)``
        All results have been taken, and memory has answered everything.
    lost : ``Out(LOST)``
        Memory refuses a line, or the write-back of one; with its address.
    hit, miss : ``Out(1)``
        An access found its line, and as much of it as it reads, or did not.
    """

    def __init__(
        self, passenger: ShapeLike, config: CacheConfig = DEFAULT, *, outstanding: int = 8, waiting: int = 32
    ) -> None:
        if outstanding < 2:
            raise ValueError(f"outstanding must be at least 2, not {outstanding}")
        if waiting < 2:
            raise ValueError(f"waiting must be at least 2, not {waiting}")
        self._config, self._outstanding, self._waiting = config, outstanding, waiting
        self._rows = config.sets * config.ways + outstanding
        row = range(self._rows)
        replaced = data.StructLayout({"valid": 1, "row": row, "place": range(outstanding)})
        self._entry = data.StructLayout(
            {
                "row": row,
                "word": WORD_INDEX_BITS,
                "reads": 1,
                "waits": 1,
                "replaced": replaced,
                "passenger": passenger,
            }
        )
        super().__init__(
            {
                "client": In(ConditionalAccess(passenger)),
                "lines": Out(LineClient(always_ready=True)),
                "line_write": Out(stream.Signature(LINE_WRITE)),
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
        m.submodules.coming = SyncFIFO(width=(self._rows - 1).bit_length(), depth=self._outstanding)
        m.submodules.rows = DirtyRows(self._rows)
        m.submodules.tags = ConditionalTags(self._config, self._rows)
        m.submodules.write_backs = WriteBacks(_CLIENT, rows=self._rows, places=self._outstanding)
        self._look_up(m)
        error = self._fill(m)
        self._go_through(m, error)
        self._leave(m)
        return m

    def _look_up(self, m: Module) -> None:
        """The front: an access goes into the queue, a line that is missing is asked for."""
        queue, coming, tags = m.submodules.queue, m.submodules.coming, m.submodules.tags
        write_backs = m.submodules.write_backs
        m.submodules.requests = requests = SyncFIFO(width=LINE_REQUEST.size, depth=_REQUESTS)
        access, entry, request = self.client.access.payload, Signal(self._entry), Signal(LINE_REQUEST)
        room = queue.w_rdy & coming.w_rdy & requests.w_rdy & write_backs.room & tags.ready
        # Whether it hits has no part in whether an access is taken, so that this is known early.
        taken = self.client.access.valid & self.client.access.ready
        m.d.comb += [
            write_backs.line.eq(access.line),
            self.client.access.ready.eq(room & ~self.flush & ~(access.touches & write_backs.leaving)),
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
            entry.waits.eq(tags.asks),
            entry.replaced.valid.eq(tags.replaced.valid),
            entry.replaced.row.eq(tags.replaced.row),
            entry.replaced.place.eq(write_backs.place),
            entry.passenger.eq(access.passenger),
            request.line.eq(access.line),
            queue.w_data.eq(entry),
            queue.w_en.eq(taken),
            coming.w_data.eq(tags.row),
            coming.w_en.eq(tags.asks),
            requests.w_data.eq(request),
            requests.w_en.eq(tags.asks),
            requests.r_en.eq(self.lines.request.ready),
            self.lines.request.valid.eq(requests.r_rdy),
            Value.cast(self.lines.request.payload).eq(requests.r_data),
        ]

    def _fill(self, m: Module) -> Signal:
        """A line comes. The rows whose lines memory has refused."""
        coming, rows = m.submodules.coming, m.submodules.rows
        tags, write_backs = m.submodules.tags, m.submodules.write_backs
        response, row, error = self.lines.response, coming.r_data, Signal(self._rows, name="error")
        fails = response.valid & response.payload.error
        m.d.comb += [
            coming.r_en.eq(response.valid),
            rows.fill.valid.eq(response.valid),
            rows.fill.row.eq(row),
            rows.fill.bits.eq(response.payload.bits),
            tags.asked[1].eq(row),
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
        with m.If(response.valid):
            m.d.sync += error.bit_select(row, 1).eq(response.payload.error)
        return error

    def _go_through(self, m: Module, error: Signal) -> None:
        """The back: in three cycles an access's row is read, its word picked, and, as a result, perhaps changed."""
        queue, rows, write_backs = m.submodules.queue, m.submodules.rows, m.submodules.write_backs
        client, fills, head = self.client, self.lines.response.valid, self._entry(queue.r_data)
        # Lines that have come before those that wait for them have got to the end of the queue.
        goes, moves, arrived = Signal(), Signal(), Signal(range(self._waiting + 1))
        reading, read = Signal(), record(self._entry, reset_less=True)
        ending, end = Signal(), Signal(self._entry, reset_less=True)
        word, fails = Signal(WORD_BITS, reset_less=True), Signal(reset_less=True)
        m.d.sync += arrived.eq(arrived + fills - (goes & head.waits))
        m.d.comb += [
            # A line that comes needs the rows for itself.
            moves.eq(~fills & (~ending | client.taken)),
            goes.eq(moves & queue.r_rdy & (~head.waits | arrived.any()) & ~write_backs.reads),
            queue.r_en.eq(goes),
            write_backs.may_read.eq(moves | ~reading),
            rows.read.valid.eq(moves | write_backs.reads),
            rows.read.row.eq(Mux(write_backs.reads, write_backs.read_row, head.row)),
            client.result.valid.eq(ending & ~fills),
            client.result.bits.eq(word),
            client.result.error.eq(fails),
            client.result.passenger.eq(end.passenger),
            client.empty.eq(~queue.r_rdy & ~reading & ~ending),
            rows.change.row.eq(end.row),
            rows.change.word.eq(end.word),
            rows.change.change.bits.eq(client.change.bits),
            rows.change.change.mask.eq(Mux(client.taken, client.change.mask, 0)),
        ]
        picked = self._word(m, read, moves)
        with m.If(moves):
            m.d.sync += [
                reading.eq(goes),
                read.eq(head),
                ending.eq(reading),
                end.eq(read),
                word.eq(picked),
                fails.eq(read.reads & error.bit_select(read.row, 1)),
            ]
        with m.If(moves & ending):
            m.d.comb += [
                write_backs.release.valid.eq(end.replaced.valid),
                write_backs.release.row.eq(end.replaced.row),
                write_backs.release.place.eq(end.replaced.place),
            ]

    def _word(self, m: Module, read: data.View, moves: Value) -> Value:
        """The word of an access, with the changes that its row had not when it was read: those of the two before it."""
        rows = m.submodules.rows
        last = Signal.like(rows.change)
        with m.If(moves):
            m.d.sync += last.eq(rows.change)
        bits: Value = rows.bits.word_select(read.word, WORD_BITS)
        for row_change in (last, rows.change):
            same = (row_change.row == read.row) & (row_change.word == read.word)
            change, bytes_ = row_change.change, []
            for number, own in enumerate(change.mask):
                old, new = bits.word_select(number, BYTE_BITS), change.bits.word_select(number, BYTE_BITS)
                bytes_.append(Mux(same & own, new, old))
            bits = Cat(bytes_)
        return bits

    def _leave(self, m: Module) -> None:
        """Lines leave: those that are replaced, and while a flush is on, all that have dirty bytes."""
        rows, tags, write_backs = m.submodules.rows, m.submodules.tags, m.submodules.write_backs
        flushing, released, row = Signal(), Signal(self._rows), Signal(range(self._rows))
        left = rows.soiled & ~released
        releases = flushing & write_backs.room & left.any()
        quiet = self.client.empty & write_backs.empty
        m.d.comb += [
            row.eq(one_hot_index(lowest_one(left))),
            tags.asked[0].eq(Mux(flushing, row, tags.replaced.row)),
            tags.free.eq(write_backs.done),
            write_backs.enter.valid.eq(tags.replaced.valid | releases),
            write_backs.enter.line.eq(tags.lines[0]),
            rows.asked.eq(write_backs.row),
            write_backs.mask.eq(rows.dirty),
            write_backs.bits.eq(rows.bits),
            rows.clean.valid.eq(write_backs.reads),
            rows.clean.row.eq(write_backs.read_row),
            self.idle.eq(quiet),
            self.flushed.eq(self.flush & flushing & quiet & ~rows.soiled.any()),
        ]
        # What has left before is answered first, so that no row is released twice.
        m.d.sync += flushing.eq(self.flush & (flushing | quiet))
        with m.If(~flushing):
            m.d.sync += released.eq(0)
        with m.If(releases):
            m.d.comb += [
                write_backs.release.valid.eq(1),
                write_backs.release.row.eq(row),
                write_backs.release.place.eq(write_backs.place),
                write_backs.release.stays.eq(1),
            ]
            m.d.sync += released.bit_select(row, 1).eq(1)
        wiring.connect(m, write_backs.line_write, wiring.flipped(self.line_write))
        wiring.connect(m, wiring.flipped(self.line_written), write_backs.line_written)
