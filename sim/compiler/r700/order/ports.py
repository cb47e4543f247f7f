"""Whether instructions can be in one group: its read ports, constants and literals, and the bank swizzles that fit."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ctm.rtl.isa.r700.alu import (
    KCACHE_0,
    KCACHE_END,
    LITERAL,
    PREVIOUS_SCALAR,
    PREVIOUS_VECTOR,
    TransSwizzle,
    VectorSwizzle,
)
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, GROUP_LITERALS, TRANS_CONSTANTS, TRANS_SLOT


class Operand(NamedTuple):
    """What one operand of an instruction in a slot is: SEL and CHAN, the word of a literal, and what kind it is."""

    select: int
    channel: int
    literal: int | None = None

    @property
    def is_register(self) -> bool:
        """Whether it takes a read port."""
        return self.select < KCACHE_0

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant of any kind, and no result of the group before."""
        return not self.is_register and self.select not in (PREVIOUS_VECTOR, PREVIOUS_SCALAR)

    @property
    def is_row(self) -> bool:
        """Whether it is a row of constants."""
        return KCACHE_0 <= self.select < KCACHE_END


def _cycles(names: Iterable[VectorSwizzle | TransSwizzle]) -> tuple[tuple[int, ...], ...]:
    """By the code of a bank swizzle, the cycles of the three operands, which are its name."""
    return tuple(tuple(int(digit) for digit in each.name.rpartition("_")[2]) for each in names)


_VECTOR, _TRANS = _cycles(VectorSwizzle), _cycles(TransSwizzle)
_Reads = tuple[tuple[tuple[int, int], int], ...]
"""Cycle and component of each read, with the register."""


class Member(NamedTuple):
    """An instruction in its slot, with the bank swizzles that it may have."""

    slot: int
    operands: tuple[Operand, ...]
    reads_by_swizzle: tuple[tuple[int, _Reads], ...]


def member(slot: int, operands: tuple[Operand, ...]) -> Member | None:
    """An instruction; None if it cannot be in this slot."""
    if slot == TRANS_SLOT and sum(each.is_constant for each in operands) > TRANS_CONSTANTS:
        return None
    return Member(slot, operands, _reads_by_swizzle(operands, is_trans=slot == TRANS_SLOT))


# Clauses read the same registers again and again.
@lru_cache(1 << 12)
def _reads_by_swizzle(operands: tuple[Operand, ...], *, is_trans: bool) -> tuple[tuple[int, _Reads], ...]:
    constants = sum(each.is_constant for each in operands) if is_trans else 0
    found: dict[_Reads, int] = {}
    for code, cycles in enumerate(_TRANS if is_trans else _VECTOR):
        reads: dict[tuple[int, int], int] = {}
        for number, each in enumerate(operands):
            if cycles[number] < constants and not each.is_constant:
                break
            if each.is_register and not (number == 1 and not is_trans and each == operands[0]):
                port = cycles[number], each.channel
                if reads.setdefault(port, each.select) != each.select:
                    break
        else:
            found.setdefault(tuple(sorted(reads.items())), code)
    return tuple((code, port_reads) for port_reads, code in found.items())


def swizzles(members: Sequence[Member]) -> list[int] | None:
    """Bank swizzles of instructions that are together in a group; None if that is impossible."""
    operands = [each for one in members for each in one.operands]
    if len({(each.select, each.channel // 2) for each in operands if each.is_row}) > CONSTANT_PAIRS:
        return None
    if len({each.literal for each in operands if each.select == LITERAL}) > GROUP_LITERALS:
        return None
    order = sorted(range(len(members)), key=lambda number: len(members[number].reads_by_swizzle))
    found = _search([members[number].reads_by_swizzle for number in order], {})
    if found is None:
        return None
    result = [0] * len(members)
    for number, code in zip(order, found, strict=True):
        result[number] = code
    return result


def _search(remaining: Sequence[tuple[tuple[int, _Reads], ...]], ports: dict[tuple[int, int], int]) -> list[int] | None:
    if not remaining:
        return []
    for code, reads in remaining[0]:
        for port, register in reads:
            if ports.get(port, register) != register:
                break
        else:
            found = _search(remaining[1:], {**ports, **dict(reads)} if reads else ports)
            if found is not None:
                return [code, *found]
    return None
