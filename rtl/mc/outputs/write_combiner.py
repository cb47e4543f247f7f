"""The output cache: lines that are being written, until they are handed to the bus."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_BYTES, LINE_WRITE
from ctm.rtl.lib.ages import Ages
from ctm.rtl.lib.encoding import lowest_one, one_hot_index

_RESERVE = 2
"""Entries that are kept free, so that a new line need not wait for the bus."""
_FULL, _ANY = range(2)
"""Sets of entries among which the oldest is looked for."""


class WriteCombiner(wiring.Component):
    """Gathers writes to the same line, one write in each cycle; handed on are only the bytes that were written.

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
        m.submodules.ages = ages = Ages(count, 2)
        memory: Memory = Memory(shape=LINE_BITS, depth=count, init=[])
        m.submodules.bytes = memory
        writer, reader = memory.write_port(granularity=8), memory.read_port()
        entries = [_Entry(number) for number in range(count)]
        # An entry that is leaving is still used, but no write finds it.
        open_, used = Signal(count), Signal(count)

        write, line = self.write, self.line
        free, hit = ~used, Signal()
        hits = Cat(entry.line == write.payload.line for entry in entries) & open_
        taken, opened, merged = write.valid & write.ready, Signal(count), Signal(count)
        m.d.comb += [
            hit.eq(hits.any()),
            opened.eq(Mux(taken & ~hit, lowest_one(free), 0)),
            merged.eq(Mux(taken & hit, hits, 0)),
            write.ready.eq(hit | free.any()),
            writer.addr.eq(one_hot_index(Mux(hit, hits, lowest_one(free)))),
            writer.data.eq(write.payload.bits),
            writer.en.eq(Mux(taken, write.payload.mask, 0)),
            ages.renew.eq(opened),
            self.empty.eq(~used.any()),
        ]

        left, full = Signal(count), Cat(entry.mask.all() for entry in entries)
        leaving, victim, may_leave = Signal(), Signal(range(count)), ~line.valid | line.ready
        m.d.comb += [
            # Whoever is being written stays; so the line that leaves is whole in memory.
            ages.candidates[_FULL].eq(open_ & full & ~merged),
            ages.candidates[_ANY].eq(open_ & ~merged),
            leaving.eq(
                may_leave & (ages.found[_FULL] | (ages.found[_ANY] & (self.flush | ~_more_than(free, _RESERVE))))
            ),
            victim.eq(Mux(ages.found[_FULL], ages.oldest[_FULL], ages.oldest[_ANY])),
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

        for number, entry in enumerate(entries):
            with m.If(opened[number]):
                entry.open(m, write.payload)
            with m.Elif(merged[number]):
                entry.merge(m, write.payload)
            with m.If(left[number]):
                entry.send(m, line.payload)
        return m


class _Entry:
    """A line of which bytes were written, and which ones."""

    def __init__(self, number: int) -> None:
        self.line = Signal(LINE_ADDRESS_BITS, name=f"line_{number}")
        self.mask = Signal(LINE_BYTES, name=f"mask_{number}")

    def open(self, m: Module, write: data.View) -> None:
        """Begin with a write."""
        m.d.sync += [self.line.eq(write.line), self.mask.eq(write.mask)]

    def merge(self, m: Module, write: data.View) -> None:
        """Add another write to the line."""
        m.d.sync += self.mask.eq(self.mask | write.mask)

    def send(self, m: Module, line: data.View) -> None:
        """Hand on all but the bytes."""
        m.d.sync += [line.line.eq(self.line), line.mask.eq(self.mask)]


def _more_than(bits: Value, count: int) -> Value:
    """Whether more than `count` of `bits` are ones."""
    return Value.cast(sum(bits[index] for index in range(len(bits)))) > count
