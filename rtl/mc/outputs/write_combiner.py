"""The output cache: a write-combining buffer of lines."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, LINE_WRITE
from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import BlockRam, DistributedRam

_RESERVE = 2
"""Entries that are kept free, so that a new line does not wait for the bus."""
_ENTRY = data.StructLayout({"line": LINE_ADDRESS_BITS, "mask": LINE_BYTES})
"""A line, and its written bytes."""
_FULL, _ANY = range(2)
"""Sets of candidates for eviction."""


class WriteCombiner(wiring.Component):
    """Combines writes to the same line: one write in each cycle for which an entry was known to be free.

    An entry is evicted when all its bytes are written, when it is the oldest and only two entries are free, or with
    `flush`. It is free when the next unit has taken its line. Lines leave in the order of their eviction, at most one
    in each cycle. A write to a line that is being evicted starts a new entry.

    Members
    -------
    write : ``In(stream.Signature(LINE_WRITE))``
    line : ``Out(stream.Signature(LINE_WRITE))``
    flush : ``In(1)``
        Evict all entries; high until `empty`.
    empty : ``Out(1)``
        No entry is in use.
    moves : ``Out(1)``
        A line is evicted, or is offered, or an entry was written in the last cycle.
    """

    def __init__(self, *, entries: int) -> None:
        if entries <= _RESERVE:
            raise ValueError(f"entries must be more than {_RESERVE}, not {entries}")
        self._entries = entries
        super().__init__(
            {
                "write": In(stream.Signature(LINE_WRITE)),
                "line": Out(stream.Signature(LINE_WRITE)),
                "flush": In(1),
                "empty": Out(1),
                "moves": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        count = self._entries
        memory = BlockRam(LINE_BITS, count)
        m.submodules.bytes = memory
        writer = memory.write_port(granularity=8)
        # Fields that are compared in all entries at once are in registers, the others in distributed RAM.
        lines = [Signal(LINE_ADDRESS_BITS, name=f"line_{number}") for number in range(count)]
        m.submodules.masks = masks = DistributedRam(_ENTRY, count)
        # An entry that is being evicted is still used, but does not hit.
        open_, used = Signal(count), Signal(count)

        write, line = self.write, self.line
        free, hit, full = ~used, Signal(), Signal(count)
        has_free = Signal(init=1)
        hits = Cat(entry == write.payload.line for entry in lines) & open_
        taken, opened, merged = write.valid & write.ready, Signal(count), Signal(count)
        index, entry = Signal(range(count)), Signal(_ENTRY)
        hit_index = one_hot_index(hits)
        m.d.comb += [
            hit.eq(hits.any()),
            opened.eq(Mux(taken & ~hit, lowest_one(free), 0)),
            merged.eq(Mux(taken & hit, hits, 0)),
            index.eq(Mux(hit, hit_index, one_hot_index(lowest_one(free)))),
            entry.line.eq(write.payload.line),
            entry.mask.eq(Mux(hit, masks.read(m, hit_index).mask, 0) | write.payload.mask),
            writer.addr.eq(index),
            writer.data.eq(write.payload.bits),
            writer.en.eq(Mux(taken, write.payload.mask, 0)),
            self.empty.eq(~used.any()),
        ]

        masks.write(m, index, entry, taken)
        written = self._note_full(m, full, taken, opened, index, entry.mask)
        for number, line_number in enumerate(lines):
            with m.If(opened[number]):
                m.d.sync += line_number.eq(write.payload.line)

        released, may_leave = Signal(count), ~line.valid | line.ready
        leaving, victim = self._find_leaving(m, may_leave, open_, full, opened, merged, free)
        m.d.comb += [
            released.eq(Mux(leaving, (1 << victim)[:count], 0)),
            self.moves.eq(leaving | line.valid | written),
        ]
        out, handed = Signal(count), line.valid & line.ready
        # Of two free entries, or one and one that is handed on, one is still free after this cycle.
        m.d.sync += has_free.eq(_more_than(free, 1) | handed)
        m.d.comb += write.ready.eq(has_free)
        with m.If(may_leave):
            m.d.sync += [line.valid.eq(leaving), out.eq(released)]
        m.d.sync += [
            open_.eq((open_ | opened) & ~released),
            used.eq((used | opened) & ~Mux(handed, out, 0)),
        ]
        self._read(m, memory, masks, victim, leaving)
        return m

    def _read(self, m: Module, memory: BlockRam, masks: DistributedRam, victim: Value, leaving: Value) -> None:
        """Read the entry that is evicted."""
        reader, entry, payload = memory.read_port(), masks.read(m, victim), self.line.payload
        m.d.comb += [reader.addr.eq(victim), reader.en.eq(leaving), payload.bits.eq(reader.data)]
        with m.If(leaving):
            m.d.sync += [payload.line.eq(entry.line), payload.mask.eq(entry.mask)]

    def _note_full(self, m: Module, full: Signal, taken: Value, opened: Value, index: Value, mask: Value) -> Signal:
        """Note which entries are full, in the cycle after a write. Returns whether there was one in the last cycle."""
        written, entry, bytes_ = Signal(), Signal.like(index), Signal(LINE_BYTES, reset_less=True)
        m.d.sync += [written.eq(taken), entry.eq(index), bytes_.eq(mask), full.eq(full & ~opened)]
        with m.If(written):
            m.d.sync += full.bit_select(entry, 1).eq(bytes_.all())
        return written

    def _find_leaving(
        self, m: Module, may_leave: Value, open_: Value, full: Value, opened: Value, merged: Value, free: Value
    ) -> tuple[Signal, Signal]:
        """Whether an entry is evicted, and its index."""
        m.submodules.ages = ages = AgeMatrix(self._entries, 2)
        leaving, wants, victim = Signal(), Signal(), Signal(range(self._entries))
        m.d.comb += [
            ages.renew.eq(opened),
            ages.candidates[_FULL].eq(open_ & full),
            ages.candidates[_ANY].eq(open_),
            wants.eq(ages.found[_FULL] | (ages.found[_ANY] & (self.flush | ~_more_than(free, _RESERVE)))),
            # An entry that is written in this cycle stays, so the RAM has all bytes of the line that leaves.
            leaving.eq(may_leave & wants & ~merged.bit_select(victim, 1)),
            victim.eq(Mux(ages.found[_FULL], ages.oldest[_FULL], ages.oldest[_ANY])),
        ]
        return leaving, victim


def _more_than(bits: Value, count: int) -> Value:
    """Whether more than `count` of `bits` are ones."""
    return Value.cast(sum(bits[index] for index in range(len(bits)))) > count
