"""The read ports of a group: which operands can be read together.

A register is read in the cycle that BANK_SWIZZLE gives the operand; in each cycle there is one port for each channel.
Source: R700-Family Instruction Set Architecture, section 4.7.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctm.rtl.isa.r700.alu import TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, TRANS_CONSTANTS, TRANS_SLOT
from ctm.sim.golden.r700.decode.error import IllegalError, illegal_if
from ctm.sim.golden.r700.instruction import Bank, Operand


class Reading(NamedTuple):
    """What an instruction in a slot reads, and its BANK_SWIZZLE."""

    position: int
    bank_swizzle: int
    operands: Sequence[Operand]


def check_ports(readings: Iterable[Reading]) -> None:
    """Check that all operands of a group can be read.

    Raises
    ------
    IllegalError
    """
    ports: dict[tuple[int, int], Operand] = {}
    pairs = set()
    for reading in readings:
        cycles = _cycles(reading)
        constants = sum(operand.bank in (Bank.CONSTANT, Bank.PRIMITIVE, Bank.VALUE) for operand in reading.operands)
        if reading.position != TRANS_SLOT:
            constants = 0
        illegal_if(constants > TRANS_CONSTANTS, f"slot t reads {constants} constants")
        for number, operand in enumerate(reading.operands):
            cycle = cycles[number]
            if operand.bank in (Bank.CONSTANT, Bank.PRIMITIVE):
                pairs.add((operand.kcache_bank, operand.number, operand.index is not None, operand.channel // 2))
            elif operand.bank is Bank.PREVIOUS:
                illegal_if(cycle < constants, f"slot t reads a previous result in cycle {cycle}, taken by a constant")
            elif operand.bank is Bank.GPR and not _shares(reading, number):
                illegal_if(cycle < constants, f"slot t reads {_name(operand)} in cycle {cycle}, taken by a constant")
                other = ports.setdefault((cycle, operand.channel), operand)
                is_same = other.number == operand.number and (other.index is None) == (operand.index is None)
                illegal_if(not is_same, f"{_name(other)} and {_name(operand)} cannot both be read in cycle {cycle}")
    illegal_if(len(pairs) > CONSTANT_PAIRS, f"{len(pairs)} pairs of constants are read")


def _cycles(reading: Reading) -> tuple[int, ...]:
    """The cycle in which each operand is read."""
    swizzles = TransSwizzle if reading.position == TRANS_SLOT else VectorSwizzle
    for swizzle in swizzles:
        if swizzle.value == reading.bank_swizzle:
            # The digits of the name are the cycles.
            return tuple(int(digit) for digit in swizzle.name[-3:])
    raise IllegalError(f"BANK_SWIZZLE {reading.bank_swizzle} in slot {'xyzwt'[reading.position]}")


def _shares(reading: Reading, number: int) -> bool:
    """Whether an operand is what operand 0 of a vector slot has read already."""
    if reading.position == TRANS_SLOT or number != 1:
        return False
    first, second = reading.operands[0], reading.operands[1]
    return first.bank is Bank.GPR and (first.number, first.channel, first.index is None) == (
        second.number, second.channel, second.index is None,
    )  # fmt: skip


def _name(operand: Operand) -> str:
    relative = "" if operand.index is None else f"+{operand.index.name}"
    return f"R{operand.number}{relative}.{'xyzw'[operand.channel]}"
