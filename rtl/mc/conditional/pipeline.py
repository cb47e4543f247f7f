"""The pipeline of accesses of the conditional cache: reads rows, gives words, and writes their changes."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import CHANGE, result_layout
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BITS
from ctm.rtl.lib.views import record
from ctm.rtl.mc.conditional.dirty_rows import RowAccess


class AccessPipeline(wiring.Component):
    """Takes accesses in order, one in each cycle in which no refill is written. A result comes two cycles later.

    It reads the row of an access, selects its word, and changes it. A result sees all changes made by earlier accesses.

    Parameters
    ----------
    access
        Layout of an access: its `row` and `word`; `reads`, the bits of the result are used; `waits`, a refill comes
        first; what is `released` after it; its `passenger`.
    rows, slice_bits
        As those of `DirtyRows`.
    waiting
        Most accesses whose refills have come.

    Members
    -------
    access : ``In(stream.Signature(access))``
    rows : ``Out(RowAccess(rows, slice_bits))``
    other : ``In({valid, row, slice})``
        Another read, which uses the port of `rows` before accesses do. Only in a cycle with `free`.
    free : ``Out(1)``
    fill : ``In({valid, last})``
        A slice of a refill is written, or the last one of its line: all stands still.
    error : ``In(rows)``
        Rows whose refill had an error response.
    result : ``Out(result_layout(passenger))``
    ready : ``In(1)``
        The result is taken, and `change` is that of its word. Both follow from the result in its cycle.
    change : ``In(CHANGE)``
    released : ``Out``
        As of the access whose result is taken; else 0.
    empty : ``Out(1)``
        All results have been taken.
    unwritten : ``Out(1)``
        The last change is not written yet.
    """

    def __init__(self, access: data.StructLayout, *, rows: int, slice_bits: int, waiting: int) -> None:
        self._access, self._waiting = access, waiting
        self._inside = (slice_bits // WORD_BITS - 1).bit_length()
        ports = RowAccess(rows, slice_bits)
        super().__init__(
            {
                "access": In(stream.Signature(access)),
                "rows": Out(ports),
                "other": In(ports.members["read"].shape),
                "free": Out(1),
                "fill": In(data.StructLayout({"valid": 1, "last": 1})),
                "error": In(rows),
                "result": Out(result_layout(access["passenger"].shape)),
                "ready": In(1),
                "change": In(CHANGE),
                "released": Out(access["released"].shape),
                "empty": Out(1),
                "unwritten": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        access, head, rows, fill = self.access, self.access.payload, self.rows, self.fill
        # `arrived` counts refills whose accesses were not taken yet.
        advances, moves, arrived = Signal(), Signal(), Signal(range(self._waiting + 1))
        reading, read, same = Signal(), record(self._access, reset_less=True), Signal(reset_less=True)
        ending, end = Signal(), record(self._access, reset_less=True)
        word, fails = Signal(WORD_BITS, reset_less=True), Signal(reset_less=True)
        # The change of the last result that was taken: it is written in a later cycle, in which there is no refill.
        change: data.View = record(rows.change.shape(), reset_less=True)
        m.d.sync += arrived.eq(arrived + fill.last - (advances & head.waits))
        m.d.comb += [
            # A refill uses the data RAM alone.
            moves.eq(~fill.valid & (~ending | self.ready)),
            access.ready.eq(moves & (~head.waits | arrived.any()) & ~self.other.valid),
            advances.eq(access.valid & access.ready),
            self.free.eq(moves | ~reading),
            rows.read.valid.eq(moves | self.other.valid),
            rows.read.row.eq(Mux(self.other.valid, self.other.row, head.row)),
            rows.read.slice.eq(Mux(self.other.valid, self.other.slice, head.word[self._inside :])),
            self.result.valid.eq(ending & ~fill.valid),
            self.result.bits.eq(_changed(word, change.change, same)),
            self.result.error.eq(fails),
            self.result.passenger.eq(end.passenger),
            self.empty.eq(~access.valid & ~reading & ~ending),
            rows.change.row.eq(change.row),
            rows.change.word.eq(change.word),
            rows.change.change.bits.eq(change.change.bits),
            rows.change.change.mask.eq(Mux(self.unwritten & ~fill.valid, change.change.mask, 0)),
        ]
        picked = self._word(m, read, change, moves)
        with m.If(moves):
            m.d.sync += [
                reading.eq(advances),
                read.eq(head),
                ending.eq(reading),
                end.eq(read),
                word.eq(picked),
                same.eq((end.row == read.row) & (end.word == read.word)),
                change.row.eq(end.row),
                change.word.eq(end.word),
                change.change.bits.eq(self.change.bits),
                change.change.mask.eq(Mux(ending, self.change.mask, 0)),
                fails.eq(read.reads & self.error.bit_select(read.row, 1)),
            ]
        with m.If(~fill.valid):
            m.d.sync += self.unwritten.eq(ending & self.ready)
        with m.If(moves & ending):
            m.d.comb += self.released.eq(end.released)
        return m

    def _word(self, m: Module, read: data.View, change: data.View, moves: Value) -> Value:
        """The word of an access, with the last two changes, which its row did not have.

        The change of the access before it follows in the same cycle, and is applied in the next one.
        """
        before: data.View = record(change.shape(), reset_less=True)
        with m.If(moves):
            m.d.sync += before.eq(change)
        bits: Value = Value.cast(self.rows.bits).word_select(read.word[: self._inside], WORD_BITS)
        for earlier in (before, change):
            bits = _changed(bits, earlier.change, (earlier.row == read.row) & (earlier.word == read.word))
        return bits


def _changed(word: Value, change: data.View, applies: Value) -> Value:
    """A word with the bytes of a change, if it applies."""
    return Cat(
        Mux(applies & own, change.bits.word_select(number, BYTE_BITS), word.word_select(number, BYTE_BITS))
        for number, own in enumerate(change.mask)
    )
