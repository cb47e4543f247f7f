"""An operand of a group as its word encodes it: its kind, whether that is legal, and the cycle of its read.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP2, ALU_DWORD1_OP3, IndexMode, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.limits import READ_CYCLES, TRANS_CONSTANTS, TRANS_SLOT
from ctm.rtl.r700.alu.locked import LockedLines
from ctm.rtl.r700.alu.operands import OPERANDS


@dataclass(frozen=True, eq=False)
class DecodedOperand:
    """The kind of an operand, one bit each, and its fields; of an unused one no bit is set.

    `constant_index` is that of a constant among the locked lines, `cycle` the one in which its bank swizzle reads it.
    """

    slot: int
    register: Signal
    constant: Signal
    value: Signal
    previous: Signal
    wrong: Signal
    select: Signal
    channel: Signal
    relative: Signal
    mode: Signal
    cycle: Signal
    constant_index: Signal


def wanted(
    m: Module, group: data.View, slot: int, number: int, used: Value, lines: LockedLines, produced: Value
) -> DecodedOperand:
    """Operand `number` of a slot; `produced` are the slots of the clause's previous group."""
    word = group.words[slot]
    low, high = data.View(ALU_DWORD0, word[:WORD_BITS]), word[WORD_BITS:]
    fields = data.View(ALU_DWORD1_OP3, high) if number == OPERANDS - 1 else low

    def named(value: Any, name: str) -> Signal:
        """The value as a signal: it is used often."""
        signal = Signal(len(Value.cast(value)), name=f"{name}_{slot}_{number}")
        m.d.comb += signal.eq(value)
        return signal

    select, channel = named(fields[f"src{number}_sel"], "select"), named(fields[f"src{number}_chan"], "channel")
    relative, mode = named(fields[f"src{number}_rel"], "relative"), named(Value.cast(low.index_mode), "mode")
    is_register = select < alu.KCACHE_0
    is_constant = ~is_register & (select < alu.KCACHE_END)
    constant_index, unlocked = lines.constant_index(select)
    inline = Cat(select == code for code in alu.INLINE_CONSTANTS).any()
    is_value = inline | (select == alu.LITERAL)
    vector, scalar = select == alu.PREVIOUS_VECTOR, select == alu.PREVIOUS_SCALAR
    missing = (vector & ~produced.bit_select(channel, 1)) | (scalar & ~produced[TRANS_SLOT])
    cycle, exists = _cycle(m, slot, number, Value.cast(data.View(ALU_DWORD1_OP2, high).bank_swizzle))
    bad_mode = relative & (mode > IndexMode.LOOP.value)
    wrong = (
        (~is_register & ~is_constant & ~is_value & ~vector & ~scalar)
        | (is_constant & unlocked)
        | (relative & ~is_register & ~is_constant)
        | ((is_register | is_constant) & bad_mode)
        | missing
        | ~exists
    )
    return DecodedOperand(
        slot=slot, register=named(used & is_register, "is_register"), constant=named(used & is_constant, "is_constant"),
        value=named(used & is_value, "is_value"), previous=named(used & (vector | scalar), "is_previous"),
        wrong=named(used & wrong, "is_wrong"), select=select, channel=channel, relative=relative, mode=mode,
        cycle=cycle, constant_index=named(constant_index, "constant_index"),
    )  # fmt: skip


def _cycle(m: Module, slot: int, number: int, swizzle: Value) -> tuple[Signal, Signal]:
    """The cycle in which an operand is read, and whether its bank swizzle is legal."""
    cycle, exists = Signal(range(READ_CYCLES), name=f"cycle_{slot}_{number}"), Signal(name=f"exists_{slot}_{number}")
    with m.Switch(swizzle):
        for code in TransSwizzle if slot == TRANS_SLOT else VectorSwizzle:
            with m.Case(code.value):
                # The digits of the name are the cycles.
                m.d.comb += [cycle.eq(int(code.name[-OPERANDS:][number])), exists.eq(1)]
    return cycle, exists


def shares(slot: Sequence[DecodedOperand]) -> Value:
    """Whether operand 1 of a vector slot is the register that operand 0 has read."""
    first, second = slot[0], slot[1]
    if first.slot == TRANS_SLOT:
        return Const(0, 1)
    same = Cat(first.select, first.channel, first.relative) == Cat(second.select, second.channel, second.relative)
    return first.register & second.register & same


def trans_read_problems(slot: Sequence[DecodedOperand]) -> list[Value]:
    """Problems of the reads of slot t, whose constants take the first cycles."""
    constants = sum(operand.constant | operand.value for operand in slot)
    conflicts = [(operand.register | operand.previous) & (operand.cycle < constants) for operand in slot]
    return [Value.cast(constants > TRANS_CONSTANTS), *conflicts]
