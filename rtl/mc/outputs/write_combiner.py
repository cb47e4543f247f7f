"""The output cache: lines that are being written, until they are handed to the bus."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
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
        m.submodules.bytes = memory = Memory(shape=LINE_BITS, depth=count, init=[])
        writer, reader = memory.write_port(granularity=8), memory.read_port()
        tags = [Signal(LINE_ADDRESS_BITS, name=f"tag_{entry}") for entry in range(count)]
        masks = [Signal(LINE_BYTES, name=f"mask_{entry}") for entry in range(count)]
        # An entry that is leaving is still used, but no write finds it.
        open_, used = Signal(count), Signal(count)

        write, line = self.write, self.line
        free = ~used
        hits = Cat(tag == write.payload.line for tag in tags) & open_
        hit, chosen = Signal(), Signal(count)
        taken = write.valid & write.ready
        m.d.comb += [
            hit.eq(hits.any()),
            chosen.eq(Mux(hit, hits, lowest_one(free))),
            write.ready.eq(hit | free.any()),
            writer.addr.eq(one_hot_index(chosen)),
            writer.data.eq(write.payload.bits),
            writer.en.eq(Mux(taken, write.payload.mask, 0)),
            ages.renew.eq(Mux(taken & ~hit, chosen, 0)),
            self.empty.eq(~used.any()),
        ]

        left, full = Signal(count), Cat(mask.all() for mask in masks)
        leaving, victim = Signal(), Signal(range(count))
        # Whoever is being written stays; so the line that leaves is whole in memory.
        stays = Mux(taken & hit, hits, 0)
        m.d.comb += [
            ages.candidates[_FULL].eq(open_ & full & ~stays),
            ages.candidates[_ANY].eq(open_ & ~stays),
            leaving.eq(
                (~line.valid | line.ready)
                & (ages.found[_FULL] | (ages.found[_ANY] & (self.flush | ~_more_than(free, _RESERVE))))
            ),
            victim.eq(Mux(ages.found[_FULL], ages.oldest[_FULL], ages.oldest[_ANY])),
            reader.addr.eq(victim),
            reader.en.eq(leaving),
            left.eq(Mux(leaving, (1 << victim)[:count], 0)),
            self.moves.eq(leaving | line.valid),
        ]
        out = Signal(count)
        handed = line.valid & line.ready
        m.d.comb += line.payload.bits.eq(reader.data)
        with m.If(~line.valid | line.ready):
            m.d.sync += [line.valid.eq(leaving), out.eq(left)]
        with m.If(leaving):
            with m.Switch(victim):
                for entry in range(count):
                    with m.Case(entry):
                        m.d.sync += [line.payload.line.eq(tags[entry]), line.payload.mask.eq(masks[entry])]
        m.d.sync += [
            open_.eq((open_ | Mux(taken, chosen, 0)) & ~left),
            used.eq((used | Mux(taken, chosen, 0)) & ~Mux(handed, out, 0)),
        ]
        for entry in range(count):
            with m.If(taken & chosen[entry]):
                m.d.sync += [
                    tags[entry].eq(write.payload.line),
                    masks[entry].eq(write.payload.mask | Mux(hit, masks[entry], 0)),
                ]
        return m


def _more_than(bits: Value, count: int) -> Value:
    """Whether more than `count` of `bits` are ones."""
    return sum(bits[index] for index in range(len(bits))) > count
