"""Reads the groups of ALU clauses: each instruction in its slot, and its literals.

Source: R700-Family Instruction Set Architecture, sections 4.1 to 4.3.
"""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP3, LITERAL
from ctm.rtl.isa.r700.limits import GROUP_LITERALS, GROUP_SLOTS, TRANS_SLOT, UNIT_BYTES
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.code import FOUND, ROW_ADDRESS_BITS, ROW_UNITS
from ctm.rtl.r700.code.slot_control import SlotDecoder
from ctm.rtl.r700.code.words import connect_word
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS

ROWS = 4
"""Rows of code that hold a whole group, wherever it begins."""
_UNIT_BITS = 8 * UNIT_BYTES
_MOST_WORDS = GROUP_SLOTS

GROUP = data.StructLayout(
    {
        "used": GROUP_SLOTS,
        "words": data.ArrayLayout(_UNIT_BITS, GROUP_SLOTS),
        "operands": data.ArrayLayout(2, GROUP_SLOTS),
        "literals": data.ArrayLayout(WORD_BITS, GROUP_LITERALS),
        "illegal": 1,
        "error": 1,
        "address": UNIT_ADDRESS_BITS,
        "next": UNIT_ADDRESS_BITS,
    }
)
"""A group: its instructions by slot, and their numbers of operands; its literals; its address and the next one's.

Word and operands of an unused slot are 0.

`illegal`: it does not end in its clause, an operation is unknown, or slots are wrong; then all else is undefined.
`error`: its code had an error response.
"""

_KEPT = "words", "operands", "literals"
_FACTS = data.StructLayout({name: field.shape for name, field in GROUP if name not in _KEPT})
_PARSED = data.StructLayout(
    {
        "facts": _FACTS,
        "count": range(_MOST_WORDS + 1),
        "next_slot": range(GROUP_SLOTS + 1),
        "has_last": 1,
        "done": 1,
        "literal_units": 2,
        "literals_read": 2,
        "missed": 1,
    }
)
"""A group as far as it is read, without its words; `next_slot` follows the last slot that was taken."""

_TAKES = data.StructLayout({"slots": GROUP_SLOTS, "literals": GROUP_LITERALS // 2, "operands": 2})
"""The kind of a unit: the instruction of a slot, with its number of operands, or a pair of literals."""


class GroupReader(wiring.Component):
    """Reads one group in each frame of cycles, of any clause.

    A frame begins with `start`, at least four cycles after the previous one; the code is read then and in the next
    three cycles. It ends four cycles after `start`, and in the next cycle the group is valid.

    Members
    -------
    start : ``In(1)``
    address : ``In(14)``
        Of the group's first unit.
    end : ``In(14)``
        The address after its clause.
    row : ``Out``
    reads : ``Out(1)``
    found : ``In(FOUND)``
        A cycle after `row`.
    done : ``Out(1)``
        The frame ends. Without `whole` a row was missing; the group has to be read again.
    whole : ``Out(1)``
    group : ``Out(GROUP)``
        A cycle after `done`.
    """

    start: In(1)
    address: In(UNIT_ADDRESS_BITS)
    end: In(UNIT_ADDRESS_BITS)
    row: Out(ROW_ADDRESS_BITS)
    reads: Out(1)
    found: In(FOUND)
    done: Out(1)
    whole: Out(1)
    group: Out(GROUP)

    latency = ROWS + 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        parsed = record(_PARSED, name="parsed")
        end, odd = Signal(UNIT_ADDRESS_BITS), Signal()
        next_row, step = Signal(ROW_ADDRESS_BITS), Signal(ROWS)
        m.d.comb += [
            self.row.eq(Mux(self.start, self.address[1:], next_row)),
            self.reads.eq(self.start | step[: ROWS - 1].any()),
        ]
        m.d.sync += [step.eq(Cat(self.start, step)), next_row.eq(self.row + 1)]
        units = [self.found.units[number] for number in range(ROW_UNITS)]
        after_first, first = self._read(m, parsed, units[0], end, skip=odd & step[0], name="first")
        after, second = self._read(m, after_first, units[1], end, skip=Const(0), name="second")
        arrived = record(_PARSED, name="arrived")
        m.d.comb += arrived.eq(parsed)
        with m.If(~parsed.done & ~parsed.missed):
            with m.If(~self.found.hit):
                m.d.comb += arrived.missed.eq(1)
            # Units after the clause are not read, so they need not be in the cache.
            with m.Elif(self.found.error & (parsed.facts.next < end)):
                m.d.comb += [arrived.facts.error.eq(1), arrived.done.eq(1)]
            with m.Else():
                m.d.comb += arrived.eq(after)
        with m.If(step.any()):
            m.d.sync += parsed.eq(arrived)
        with m.If(self.start):
            m.d.sync += [
                end.eq(self.end),
                odd.eq(self.address[0]),
                Value.cast(parsed).eq(0),
                parsed.facts.address.eq(self.address),
                parsed.facts.next.eq(self.address),
            ]
        finished = record(_FACTS, name="finished", reset_less=True)
        m.d.sync += finished.eq(arrived.facts)
        self._keep(m, units, (first, second), step[0])
        m.d.comb += [
            self.done.eq(step[-1]),
            self.whole.eq(arrived.done),
            *(self.group[name].eq(finished[name]) for name, _ in _FACTS),
        ]
        return m

    def _keep(self, m: Module, units: list[Value], takes: tuple[data.View, data.View], begins: Value) -> None:
        """Keep the units that are taken, and 0 for others. A frame's words stay for a cycle of the next one."""
        group, coming = self.group, [Cat(unit, each.operands) for unit, each in zip(units, takes, strict=True)]
        targets = [Cat(group.words[slot], group.operands[slot]) for slot in range(GROUP_SLOTS)]
        targets += [Cat(group.literals[2 * pair], group.literals[2 * pair + 1]) for pair in range(GROUP_LITERALS // 2)]
        chosen = [Cat(each.slots, each.literals) for each in takes]
        for target, *own in zip(targets, *chosen, strict=True):
            with m.If(begins | Cat(own).any()):
                m.d.sync += target.eq(
                    reduce(or_, (Mux(is_it, word, 0) for is_it, word in zip(own, coming, strict=True)))
                )

    def _read(
        self, m: Module, before: data.View, unit: Value, end: Value, *, skip: Value, name: str
    ) -> tuple[data.View, data.View]:
        """The group after one more unit, and the kind of that unit."""
        after, takes = record(_PARSED, name=f"after_{name}"), record(_TAKES, name=f"takes_{name}")
        m.d.comb += after.eq(before)
        facts = after.facts
        with m.If(~before.done & ~skip):
            m.d.comb += facts.next.eq(before.facts.next + 1)
            with m.If(before.facts.next >= end):
                m.d.comb += [facts.illegal.eq(1), after.done.eq(1)]
            with m.Elif(before.has_last):
                m.d.comb += [
                    after.literals_read.eq(before.literals_read + 1),
                    after.done.eq(before.literals_read + 1 == before.literal_units),
                    takes.literals.eq((1 << before.literals_read)[: GROUP_LITERALS // 2]),
                ]
            with m.Elif(before.count == _MOST_WORDS):
                m.d.comb += [facts.illegal.eq(1), after.done.eq(1)]
            with m.Else():
                self._assign_slot(m, before, after, takes, unit, name=name)
        return after, takes

    def _assign_slot(
        self, m: Module, before: data.View, after: data.View, takes: data.View, unit: Value, *, name: str
    ) -> None:
        """Find the slot of an instruction."""
        low, high = data.View(ALU_DWORD0, unit[:WORD_BITS]), unit[WORD_BITS:]
        m.submodules[name] = decoder = SlotDecoder()
        connect_word(m, decoder, unit)
        facts, three = decoder.facts, data.View(ALU_DWORD1_OP3, high)
        channel = Value.cast(three.dst_chan)
        slot = Signal(range(GROUP_SLOTS), name=f"slot_{name}")
        taken = before.facts.used.bit_select(channel, 1)
        goes_to_t = facts.trans_only | (taken & ~facts.vector_only & ~facts.is_reduction)
        is_wrong = ~facts.is_legal | (slot < before.next_slot) | before.facts.used.bit_select(slot, 1)
        m.d.comb += [
            slot.eq(Mux(goes_to_t, TRANS_SLOT, channel)),
            after.count.eq(before.count + 1),
            after.next_slot.eq(slot + 1),
            after.facts.used.bit_select(slot, 1).eq(1),
            takes.slots.eq((1 << slot)[:GROUP_SLOTS]),
            takes.operands.eq(facts.operands),
        ]
        literals = Signal(2, name=f"literals_{name}")
        wanted = []
        for number, (select, source_channel) in enumerate(
            ((low.src0_sel, low.src0_chan), (low.src1_sel, low.src1_chan), (three.src2_sel, three.src2_chan))
        ):
            is_literal = (Value.cast(select) == LITERAL) & (facts.operands > number)
            wanted.append(Cat(is_literal & ~source_channel[1], is_literal & source_channel[1]))
        both = Value.cast(wanted[0] | wanted[1] | wanted[2])
        m.d.comb += [
            literals.eq(Mux(both[1], 2, Mux(both[0], 1, 0))),
            after.literal_units.eq(Mux(literals > before.literal_units, literals, before.literal_units)),
        ]
        with m.If(is_wrong):
            m.d.comb += [after.facts.illegal.eq(1), after.done.eq(1)]
        with m.Elif(low.last):
            m.d.comb += [after.has_last.eq(1), after.done.eq(after.literal_units == 0)]
