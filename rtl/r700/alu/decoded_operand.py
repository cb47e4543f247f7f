"""An operand of a group as its word encodes it: its kind, whether that is legal, and the cycle of its read.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7.
"""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP2, ALU_DWORD1_OP3, IndexMode, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, READ_CYCLES, TRANS_CONSTANTS, TRANS_SLOT, UNIT_BYTES
from ctm.rtl.r700.alu.locked import INDEX_BITS, LOCKED, constant_index
from ctm.rtl.r700.alu.operands import OPERANDS

_SELECT_BITS, _MODE_BITS = (ALU_DWORD0[name].width for name in ("src0_sel", "index_mode"))


class DecodedOperand(data.Struct):
    """The kind of an operand, one bit each, and its fields; of an unused one no bit is set.

    `constant_index` is that of a constant among the locked lines, `cycle` the one in which its bank swizzle reads it.
    """

    register: 1
    constant: 1
    value: 1
    previous: 1
    wrong: 1
    select: _SELECT_BITS
    channel: range(CHANNELS)
    relative: 1
    mode: _MODE_BITS
    cycle: range(READ_CYCLES)
    constant_index: INDEX_BITS


class OperandDecode(wiring.Component):
    """Decodes operand `number` of a slot. Combinational.

    Members
    -------
    word : ``In(64)``
        The instruction of the slot.
    used : ``In(1)``
        The instruction has the operand.
    locked : ``In(LOCKED)``
    produced : ``In(5)``
        Slots of the clause's previous group.
    operand : ``Out(DecodedOperand)``
    """

    word: In(8 * UNIT_BYTES)
    used: In(1)
    locked: In(LOCKED)
    produced: In(GROUP_SLOTS)
    operand: Out(DecodedOperand)

    latency = 0

    def __init__(self, slot: int, number: int) -> None:
        self._slot, self._number = slot, number
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        number, used, operand = self._number, self.used, self.operand
        low, high = data.View(ALU_DWORD0, self.word[:WORD_BITS]), self.word[WORD_BITS:]
        fields = data.View(ALU_DWORD1_OP3, high) if number == OPERANDS - 1 else low
        select, channel, relative, mode = operand.select, operand.channel, operand.relative, operand.mode
        is_register = select < alu.KCACHE_0
        is_constant = ~is_register & (select < alu.KCACHE_END)
        index, unlocked = constant_index(self.locked, select)
        inline = Cat(select == code for code in alu.INLINE_CONSTANTS).any()
        is_value = inline | (select == alu.LITERAL)
        vector, scalar = select == alu.PREVIOUS_VECTOR, select == alu.PREVIOUS_SCALAR
        missing = (vector & ~self.produced.bit_select(channel, 1)) | (scalar & ~self.produced[TRANS_SLOT])
        cycle, exists = _cycle(m, self._slot, number, Value.cast(data.View(ALU_DWORD1_OP2, high).bank_swizzle))
        bad_mode = relative & (mode > IndexMode.LOOP.value)
        wrong = (
            (~is_register & ~is_constant & ~is_value & ~vector & ~scalar)
            | (is_constant & unlocked)
            | (relative & ~is_register & ~is_constant)
            | ((is_register | is_constant) & bad_mode)
            | missing
            | ~exists
        )
        m.d.comb += [
            select.eq(fields[f"src{number}_sel"]),
            channel.eq(fields[f"src{number}_chan"]),
            relative.eq(fields[f"src{number}_rel"]),
            mode.eq(low.index_mode),
            operand.register.eq(used & is_register),
            operand.constant.eq(used & is_constant),
            operand.value.eq(used & is_value),
            operand.previous.eq(used & (vector | scalar)),
            operand.wrong.eq(used & wrong),
            operand.cycle.eq(cycle),
            operand.constant_index.eq(index),
        ]
        return m


def _cycle(m: Module, slot: int, number: int, swizzle: Value) -> tuple[Signal, Signal]:
    """The cycle in which an operand is read, and whether its bank swizzle is legal."""
    cycle, exists = Signal(range(READ_CYCLES), name="read_cycle"), Signal(name="exists")
    with m.Switch(swizzle):
        for code in TransSwizzle if slot == TRANS_SLOT else VectorSwizzle:
            with m.Case(code.value):
                # The digits of the name are the cycles.
                m.d.comb += [cycle.eq(int(code.name[-OPERANDS:][number])), exists.eq(1)]
    return cycle, exists


def shares(first: DecodedOperand, second: DecodedOperand) -> Value:
    """Whether operand 1 of a vector slot is the register that operand 0 has read."""
    same = Cat(first.select, first.channel, first.relative) == Cat(second.select, second.channel, second.relative)
    both: Value = first.register & second.register
    return both & same


def trans_read_problems(slot: Sequence[DecodedOperand]) -> list[Value]:
    """Problems of the reads of slot t, whose constants take the first cycles."""
    constants = sum(operand.constant | operand.value for operand in slot)
    conflicts = [(operand.register | operand.previous) & (operand.cycle < constants) for operand in slot]
    return [Value.cast(constants > TRANS_CONSTANTS), *conflicts]
