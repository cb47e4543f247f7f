"""The sources of a group's operands: read ports, constants, values, previous results.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, KCACHE_SETS, TRANS_SLOT
from ctm.rtl.r700.alu.decoded_operand import DecodedOperand, OperandDecode, shares, trans_read_problems
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
        m.submodules.locked = locked = LockedLines()
        m.submodules.ports = ports = ReadPortSchedule()
        m.submodules.pairs = pairs = ConstantPortAllocator()
        slots = [[self._decode(m, slot, number, locked) for number in range(OPERANDS)] for slot in range(GROUP_SLOTS)]
        every, reads = [operand for slot in slots for operand in slot], self.reads
        shared = [Signal(name="shares") for _ in slots]
        m.d.comb += [
            target.eq(0 if slot is slots[TRANS_SLOT] else shares(slot[0], slot[1]))
            for target, slot in zip(shared, slots, strict=True)
        ]
        m.d.comb += [
            locked.kcache.eq(self.kcache),
            ports.cycle.eq(self.cycle),
            ports.reading.eq(
                Cat(
                    operand.register & ~shared[slot] if number == 1 else operand.register
                    for slot, operands in enumerate(slots)
                    for number, operand in enumerate(operands)
                )
            ),
            pairs.cycle.eq(self.cycle),
            pairs.locked.eq(locked.locked),
            reads.ports.eq(ports.ports),
            reads.pairs.eq(pairs.pairs),
        ]
        for index, operand in enumerate(every):
            slot, number = divmod(index, OPERANDS)
            target = reads.operands[slot][number]
            m.d.comb += [
                ports.operands[index].eq(operand),
                pairs.operands[index].eq(operand),
                target.cycle.eq(ports.cycles[index]),
                target.pair.eq(~pairs.in_first[index]),
            ]
            if number == 1:
                with m.If(shared[slot]):
                    m.d.comb += target.cycle.eq(ports.cycles[index - 1])
            self._connect(m, operand, target)
        ar_relative = [
            operand.relative & (operand.register | operand.constant) & (operand.mode != IndexMode.LOOP.value)
            for operand in every
        ]
        wrong = [operand.wrong for operand in every]
        problems = [*wrong, *trans_read_problems(slots[TRANS_SLOT]), ports.problem, pairs.problem]
        m.d.comb += [reads.illegal.eq(Cat(problems).any()), reads.relative.eq(Cat(ar_relative).any())]
        return m

    def _decode(self, m: Module, slot: int, number: int, locked: LockedLines) -> DecodedOperand:
        """Operand `number` of a slot."""
        decode = OperandDecode(slot, number)
        m.submodules[f"operand_{slot}_{number}"] = decode
        m.d.comb += [
            decode.word.eq(self.group.words[slot]),
            decode.used.eq(self.group.used[slot] & (self.group.operands[slot] > number)),
            decode.locked.eq(locked.locked),
            decode.produced.eq(self.produced),
        ]
        operand: DecodedOperand = decode.operand
        return operand

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
