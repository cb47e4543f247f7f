"""The sources of a group's operands: read ports, constants, values, previous results.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, KCACHE_SETS, TRANS_SLOT
from ctm.rtl.r700.alu.decoded_operand import DecodedOperand, shares, trans_read_problems, wanted
from ctm.rtl.r700.alu.locked import LockedLines
from ctm.rtl.r700.alu.operands import OPERANDS, READS, VALUE_BITS, Source, Uniform
from ctm.rtl.r700.alu.port_schedule import DECODE_CYCLES, ConstantPortAllocator, ReadPortSchedule
from ctm.rtl.r700.border.alu_clause import KCACHE
from ctm.rtl.r700.code.groups import GROUP


class GroupReads(wiring.Component):
    """Finds the reads of a group, and whether they are legal.

    All inputs are stable for four cycles; in the last one `reads` is valid.

    Members
    -------
    cycle : ``In(range(4))``
        The number of the cycle.
    group : ``In(GROUP)``
    kcache : ``In(ArrayLayout(KCACHE, 2))``
    produced : ``In(5)``
        Slots of the clause's previous group.
    reads : ``Out(READS)``
    """

    cycle: In(range(DECODE_CYCLES))
    group: In(GROUP)
    kcache: In(data.ArrayLayout(KCACHE, KCACHE_SETS))
    produced: In(GROUP_SLOTS)
    reads: Out(READS)

    latency = DECODE_CYCLES - 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lines = LockedLines(m, self.kcache)
        slots = [[self._wanted(m, slot, number, lines) for number in range(OPERANDS)] for slot in range(GROUP_SLOTS)]
        every = [operand for slot in slots for operand in slot]
        shared = [Signal(name="shares") for _ in slots]
        m.d.comb += [target.eq(shares(slot)) for target, slot in zip(shared, slots, strict=True)]
        reading = [
            operand.register & ~shared[operand.slot] if operand is slots[operand.slot][1] else operand.register
            for operand in every
        ]
        reads = self.reads
        ports = ReadPortSchedule(m, self.cycle, every, reading)
        pairs = ConstantPortAllocator(m, self.cycle, every, lines)
        m.d.comb += [
            *(target.eq(port) for target, port in zip(reads.ports, ports.ports, strict=True)),
            *(target.eq(pair) for target, pair in zip(reads.pairs, pairs.pairs, strict=True)),
        ]
        for number, operand in enumerate(every):
            target, cycle = reads.operands[operand.slot][number % OPERANDS], ports.cycles[number]
            m.d.comb += [target.cycle.eq(cycle), target.pair.eq(~pairs.in_first[number])]
            if number % OPERANDS == 1:
                with m.If(shared[operand.slot]):
                    m.d.comb += target.cycle.eq(ports.cycles[number - 1])
            self._connect(m, operand, target)
        ar_relative = [
            operand.relative & (operand.register | operand.constant) & (operand.mode != IndexMode.LOOP.value)
            for operand in every
        ]
        wrong = [operand.wrong for operand in every]
        problems = [*wrong, *trans_read_problems(slots[TRANS_SLOT]), ports.problem, pairs.problem]
        m.d.comb += [reads.illegal.eq(Cat(problems).any()), reads.relative.eq(Cat(ar_relative).any())]
        return m

    def _wanted(self, m: Module, slot: int, number: int, lines: LockedLines) -> DecodedOperand:
        used = self.group.used[slot] & (self.group.operands[slot] > number)
        return wanted(m, self.group, slot, number, used, lines, self.produced)

    def _connect(self, m: Module, operand: DecodedOperand, target: data.View) -> None:
        """Set the kind of an operand."""
        m.d.comb += [
            target.channel.eq(operand.channel),
            target.value.eq(operand.select[:VALUE_BITS]),
            target.source.eq(Source.UNIFORM),
            target.uniform.eq(Mux(operand.constant, Uniform.CONSTANT.value, Uniform.VALUE.value)),
        ]
        with m.If(operand.register):
            m.d.comb += target.source.eq(Source.REGISTER)
        with m.If(operand.previous):
            m.d.comb += target.source.eq(Mux(operand.select[0], Source.SCALAR.value, Source.VECTOR.value))
