"""The output cache: a write-combining buffer of lines."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, line_write_layout
from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.mc.lines.slice_walk import SliceWalk

_RESERVE = 2
"""Entries that are kept free, so that a new line does not wait for the bus."""
_ENTRY = data.StructLayout({"line": LINE_ADDRESS_BITS, "mask": LINE_BYTES})
"""A line, and its written bytes."""
_Reading = tuple[Value, Value, Value, Value]
"""Whether an entry may be evicted, and one is read; whether a line is handed on, and of which entry, one-hot."""
_FULL, _ANY = range(2)
"""Sets of candidates for eviction."""


class WriteCombiner(wiring.Component):
    """Combines writes to the same line: one write in each cycle for which an entry was known to be free.

    An entry is evicted when all its bytes are written, when it is the oldest and only two entries are free, or with
    `flush`. It is free when the next unit has taken its line. Lines leave in the order of their eviction, at most one
    in each cycle. A write to a line that is being evicted starts a new entry.

    Lines are written whole or in slices of `written` bits, and leave in slices of `slice_bits`, no larger ones: whole
    lines in the cycle after their eviction, others a cycle later, with a slice in each cycle.

    Members
    -------
    write : ``In(stream.Signature(line_write_layout(written)))``
    line : ``Out(stream.Signature(line_write_layout(slice_bits)))``
    flush : ``In(1)``
        Evict all entries; high until `empty`.
    empty : ``Out(1)``
        No entry is in use.
    moves : ``Out(1)``
        A line is evicted, or is offered, or an entry was written in the last cycle.
    """

    def __init__(self, *, entries: int, written: int = LINE_BITS, slice_bits: int = LINE_BITS) -> None:
        if entries <= _RESERVE:
            raise ValueError(f"entries must be more than {_RESERVE}, not {entries}")
        if slice_bits > written:
            raise ValueError(f"slice_bits must be {written} at most, not {slice_bits}")
        self._entries, self._written, self._slice_bits = entries, written, slice_bits
        super().__init__(
            {
                "write": In(stream.Signature(line_write_layout(written))),
                "line": Out(stream.Signature(line_write_layout(slice_bits))),
                "flush": In(1),
                "empty": Out(1),
                "moves": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        count = self._entries
        # A row for each slice that may be written.
        memory = BlockRam(self._written, count * (LINE_BITS // self._written))
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
            merged.eq(Mux(taken, hits, 0)),
            index.eq(Mux(hit, hit_index, one_hot_index(lowest_one(free)))),
            entry.line.eq(write.payload.line),
            entry.mask.eq(Mux(hit, masks.read(m, hit_index).mask, 0) | _in_line(write.payload)),
            writer.addr.eq(Cat(write.payload.slice, index)),
            writer.data.eq(write.payload.bits),
            writer.en.eq(Mux(taken, write.payload.mask, 0)),
            self.empty.eq(~used.any()),
        ]

        masks.write(m, index, entry, taken)
        written = self._note_full(m, full, taken, opened, index, entry.mask)
        for number, line_number in enumerate(lines):
            with m.If(opened[number]):
                m.d.sync += line_number.eq(write.payload.line)

        released, may_leave = Signal(count), Signal()
        leaving, victim = self._find_leaving(m, may_leave, open_, full, opened, merged, free)
        read = self._read_line if self._slice_bits == LINE_BITS else self._read_slices
        takes, is_reading, handed, out = read(m, memory, masks.read(m, victim), victim, leaving)
        m.d.comb += [
            may_leave.eq(takes),
            released.eq(Mux(leaving, (1 << victim)[:count], 0)),
            self.moves.eq(leaving | is_reading | line.valid | written),
            write.ready.eq(has_free),
        ]
        # Of two free entries, or one and one that is handed on, one is still free after this cycle.
        m.d.sync += [
            has_free.eq(_more_than(free, 1) | handed),
            open_.eq((open_ | opened) & ~released),
            used.eq((used | opened) & ~Mux(handed, out, 0)),
        ]
        return m

    def _read_line(self, m: Module, memory: BlockRam, entry: data.View, victim: Value, leaving: Value) -> _Reading:
        """Read the entry that is evicted."""
        reader, line, out = memory.read_port(), self.line, Signal(self._entries)
        takes = ~line.valid | line.ready
        m.d.comb += [reader.addr.eq(victim), reader.en.eq(leaving), line.payload.bits.eq(reader.data)]
        with m.If(leaving):
            m.d.sync += [line.payload.line.eq(entry.line), line.payload.mask.eq(entry.mask)]
        with m.If(takes):
            m.d.sync += [line.valid.eq(leaving), out.eq(Mux(leaving, (1 << victim)[: self._entries], 0))]
        return takes, Const(0), line.valid & line.ready, out

    def _read_slices(self, m: Module, memory: BlockRam, entry: data.View, victim: Value, leaving: Value) -> _Reading:
        """Read the slices of an entry in the cycles after its eviction."""
        m.submodules.walk = walk = SliceWalk(self._slice_bits)
        reader, line, payload = memory.read_port(), self.line, self.line.payload
        evicted = record(data.StructLayout({"index": range(self._entries), "entry": _ENTRY}), reset_less=True)
        reading, out = Signal(), Signal(range(self._entries), reset_less=True)
        # Slices of a row of memory, and which of them is offered.
        low = (self._written // self._slice_bits - 1).bit_length()
        inside = Signal(low, reset_less=True)
        steps = reading & (~line.valid | line.ready)
        takes = ~reading | (steps & ~walk.remaining.any())
        m.d.comb += [
            walk.mask.eq(evicted.entry.mask),
            walk.steps.eq(steps),
            reader.addr.eq(Cat(walk.slice[low:], evicted.index)),
            reader.en.eq(steps),
            payload.bits.eq(reader.data.word_select(inside, self._slice_bits)),
        ]
        with m.If(takes):
            m.d.sync += reading.eq(leaving)
            m.d.sync += [evicted.index.eq(victim), evicted.entry.eq(entry)]
        with m.If(line.ready | ~line.valid):
            m.d.sync += line.valid.eq(reading)
        with m.If(steps):
            m.d.sync += [
                out.eq(evicted.index),
                inside.eq(walk.slice),
                payload.line.eq(evicted.entry.line),
                payload.mask.eq(evicted.entry.mask.word_select(walk.slice, len(payload.mask))),
                payload.slice.eq(walk.slice),
                payload.remaining.eq(walk.remaining),
            ]
        handed = line.valid & line.ready & ~payload.remaining.any()
        return takes, reading, handed, (1 << out)[: self._entries]

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
            # An entry that is written in this cycle is kept, so the RAM has all bytes of the line that leaves.
            leaving.eq(may_leave & wants & ~merged.bit_select(victim, 1)),
            victim.eq(Mux(ages.found[_FULL], ages.oldest[_FULL], ages.oldest[_ANY])),
        ]
        return leaving, victim


def _in_line(write: data.View) -> Value:
    """The bytes that are written, of the whole line."""
    size = len(write.mask)
    return Cat(write.mask & (write.slice == index).replicate(size) for index in range(LINE_BYTES // size))


def _more_than(bits: Value, count: int) -> Value:
    """Whether more than `count` of `bits` are ones."""
    return Value.cast(sum(bits[index] for index in range(len(bits)))) > count
