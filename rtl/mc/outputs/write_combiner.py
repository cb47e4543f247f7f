"""The output cache: lines that are being written, until they are handed to the bus."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, LINE_WRITE
from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import BlockRam, DistributedRam

_RESERVE = 2
"""Entries that are kept free, so that a new line need not wait for the bus."""
_ENTRY = data.StructLayout({"line": LINE_ADDRESS_BITS, "mask": LINE_BYTES})
"""A line of which bytes were written, and which ones."""
_FULL, _ANY = range(2)
"""Sets of entries among which the oldest is looked for."""


class WriteCombiner(wiring.Component):
    """Gathers writes to the same line, one write in each cycle in which an entry is free; hands on what was written.

    An entry leaves when all its bytes are written, when it is the oldest and only two entries are free, or
    with `flush`. It is free again when it was handed on. Lines are handed on in the order in which they leave, at most
    one in each cycle; a write to a line that is leaving starts a new entry behind it.

    Members
    -------
    write : ``In(stream.Signature(LINE_WRITE))``
    line : ``Out(stream.Signature(LINE_WRITE))``
    flush : ``In(1)``
        Hand on everything; high until `empty`.
    empty : ``Out(1)``
        There is no entry.
    moves : ``Out(1)``
        A line leaves, or is offered.
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
        writer, reader = memory.write_port(granularity=8), memory.read_port()
        # What is looked at of all entries at once is in registers, the rest in tables.
        lines = [Signal(LINE_ADDRESS_BITS, name=f"line_{number}") for number in range(count)]
        m.submodules.masks = masks = DistributedRam(_ENTRY, count)
        # An entry that is leaving is still used, but no write finds it.
        open_, used = Signal(count), Signal(count)

        write, line = self.write, self.line
        free, hit, full = ~used, Signal(), Signal(count)
        hits = Cat(entry == write.payload.line for entry in lines) & open_
        taken, opened, merged = write.valid & write.ready, Signal(count), Signal(count)
        place, entry = Signal(range(count)), Signal(_ENTRY)
        m.d.comb += [
            hit.eq(hits.any()),
            opened.eq(Mux(taken & ~hit, lowest_one(free), 0)),
            merged.eq(Mux(taken & hit, hits, 0)),
            write.ready.eq(free.any()),  # Not `hit`, too: whether it needs one is known late in a cycle.
            place.eq(one_hot_index(Mux(hit, hits, lowest_one(free)))),
            entry.line.eq(write.payload.line),
            entry.mask.eq(Mux(hit, masks.read(m, place).mask, 0) | write.payload.mask),
            writer.addr.eq(place),
            writer.data.eq(write.payload.bits),
            writer.en.eq(Mux(taken, write.payload.mask, 0)),
            self.empty.eq(~used.any()),
        ]

        masks.write(m, place, entry, taken)
        with m.If(taken):
            m.d.sync += full.bit_select(place, 1).eq(entry.mask.all())
        for number, line_number in enumerate(lines):
            with m.If(opened[number]):
                m.d.sync += line_number.eq(write.payload.line)

        left, may_leave = Signal(count), ~line.valid | line.ready
        leaving, victim = self._find_leaving(m, may_leave, open_, full, opened, merged, free)
        m.d.comb += [
            reader.addr.eq(victim),
            reader.en.eq(leaving),
            left.eq(Mux(leaving, (1 << victim)[:count], 0)),
            self.moves.eq(leaving | line.valid),
            line.payload.bits.eq(reader.data),
        ]
        out, handed = Signal(count), line.valid & line.ready
        with m.If(may_leave):
            m.d.sync += [line.valid.eq(leaving), out.eq(left)]
        m.d.sync += [
            open_.eq((open_ | opened) & ~left),
            used.eq((used | opened) & ~Mux(handed, out, 0)),
        ]

        sent = masks.read(m, victim)
        with m.If(leaving):
            m.d.sync += [line.payload.line.eq(sent.line), line.payload.mask.eq(sent.mask)]
        return m

    def _find_leaving(
        self, m: Module, may_leave: Value, open_: Value, full: Value, opened: Value, merged: Value, free: Value
    ) -> tuple[Signal, Signal]:
        """Whether an entry leaves, and which one."""
        m.submodules.ages = ages = AgeMatrix(self._entries, 2)
        leaving, victim = Signal(), Signal(range(self._entries))
        m.d.comb += [
            ages.renew.eq(opened),
            # Whoever is being written stays; so the line that leaves is whole in memory.
            ages.candidates[_FULL].eq(open_ & full & ~merged),
            ages.candidates[_ANY].eq(open_ & ~merged),
            leaving.eq(
                may_leave & (ages.found[_FULL] | (ages.found[_ANY] & (self.flush | ~_more_than(free, _RESERVE))))
            ),
            victim.eq(Mux(ages.found[_FULL], ages.oldest[_FULL], ages.oldest[_ANY])),
        ]
        return leaving, victim


def _more_than(bits: Value, count: int) -> Value:
    """Whether more than `count` of `bits` are ones."""
    return Value.cast(sum(bits[index] for index in range(len(bits)))) > count
