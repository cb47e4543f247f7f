"""The read ports of a group: three cycles, each of which reads one register of each component.

BANK_SWIZZLE says in which cycle an instruction's operands are read. In a vector slot operand 1 uses the read of
operand 0 if both are the same. In slot t constants of any kind take the first cycles, so that no register, and no
result of the group before, can be read in these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, READ_CYCLES, TRANS_CONSTANTS, TRANS_SLOT
from ctm.sim.assembler.r700.groups.view import IllegalGroupError, Operand, View, operand_text
from ctm.sim.assembler.r700.names import COMPONENTS, TRANS_SWIZZLES, VECTOR_SWIZZLES


def _cycles(names: dict[int, str]) -> dict[int, tuple[int, ...]]:
    return {code: tuple(int(digit) for digit in name.rpartition("_")[2]) for code, name in names.items()}


_VECTOR, _TRANS = _cycles(VECTOR_SWIZZLES), _cycles(TRANS_SWIZZLES)

_Register = tuple[int, bool]
_Ports = dict[tuple[int, int], _Register]
"""Cycle and component -> the register that is read."""


@dataclass(frozen=True)
class _Member:
    """An instruction in its slot, with the bank swizzles that it may have."""

    index: int
    view: View
    slot: int
    swizzles: tuple[int, ...]

    def text(self, operand: Operand) -> str:
        return operand_text(operand, self.view.draft.get("index_mode"), file="C[{}]" if operand.relative else "C{}")


def choose_swizzles(views: Sequence[View], slots: Sequence[int], given: Sequence[int | None]) -> list[int]:
    """Bank swizzles for the instructions of a group; `given` has those that are fixed.

    Of several the first by the numbers of t, w, z, y and x, in this order, is taken: that of the least effort.

    Raises
    ------
    IllegalGroupError
        There are none.
    """
    members = [_member(*each) for each in zip(range(len(views)), views, slots, given, strict=True)]
    _check_constants(members)
    found = _search(sorted(members, key=lambda member: -member.slot), {})
    if found is None:
        _explain(members)
    return [found[member.index] for member in members]


def can_be_read(views: Sequence[View]) -> bool:
    """Whether a group might have bank swizzles, whatever its slots: it reads not too many registers and constants."""
    operands = [operand for view in views for operand in view.operands]
    rows = {(operand.select, operand.relative, operand.channel // 2) for operand in operands if operand.is_row}
    registers = {(operand.channel, operand.select, operand.relative) for operand in operands if operand.is_register}
    components = [channel for channel, *_ in registers]
    return len(rows) <= CONSTANT_PAIRS and all(components.count(channel) <= READ_CYCLES for channel in components)


def _member(index: int, view: View, slot: int, given: int | None) -> _Member:
    table = _TRANS if slot == TRANS_SLOT else _VECTOR
    if given is not None and given not in table:
        names = ", ".join((TRANS_SWIZZLES if slot == TRANS_SLOT else VECTOR_SWIZZLES).values())
        raise IllegalGroupError(f"a bank swizzle of this slot is one of {names}", index)
    return _Member(index, view, slot, tuple(table) if given is None else (given,))


def _search(members: Sequence[_Member], ports: _Ports) -> dict[int, int] | None:
    if not members:
        return {}
    member, tried = members[0], set()
    for swizzle in member.swizzles:
        reads = frozenset(_reads(member, swizzle))
        if reads in tried:
            continue
        tried.add(reads)
        taken = dict(ports)
        if _problem(member, swizzle) or _reserve(reads, taken) is not None:
            continue
        others = _search(members[1:], taken)
        if others is not None:
            return {member.index: swizzle, **others}
    return None


_Read = tuple[int, int, _Register]


def _reads(member: _Member, swizzle: int) -> Iterator[_Read]:
    """Cycle, component and register of each read."""
    is_trans = member.slot == TRANS_SLOT
    cycles = (_TRANS if is_trans else _VECTOR)[swizzle]
    operands = member.view.operands
    for number, operand in enumerate(operands):
        repeats = number == 1 and not is_trans and operand == operands[0]
        if operand.is_register and not repeats:
            yield cycles[number], operand.channel, (operand.select, operand.relative)


def _reserve(reads: frozenset[_Read], ports: _Ports) -> tuple[_Read, _Register] | None:
    """Take ports for reads; gives one that is taken, with the register that takes it."""
    for read in sorted(reads):
        cycle, channel, register = read
        other = ports.setdefault((cycle, channel), register)
        if other != register:
            return read, other
    return None


def _problem(member: _Member, swizzle: int) -> str:
    """What is wrong with a bank swizzle of slot t by itself."""
    if member.slot != TRANS_SLOT:
        return ""
    operands = member.view.operands
    constants = sum(operand.is_constant for operand in operands)
    for number, operand in enumerate(operands):
        cycle = _TRANS[swizzle][number]
        if constants and cycle < constants and (operand.is_register or operand.is_previous):
            return (
                f"{member.text(operand)} would be read in cycle {cycle}, which the constants of slot t take: "
                f"use another bank swizzle than {TRANS_SWIZZLES[swizzle]}"
            )
    return ""


def _check_constants(members: Sequence[_Member]) -> None:
    pairs: dict[tuple[int, bool, int], str] = {}
    for member in members:
        constants = [member.text(operand) for operand in member.view.operands if operand.is_constant]
        if member.slot == TRANS_SLOT and len(constants) > TRANS_CONSTANTS:
            message = f"slot t can have {TRANS_CONSTANTS} constants, not {len(constants)}: {', '.join(constants)}"
            raise IllegalGroupError(message, member.index)
        for operand in member.view.operands:
            if operand.is_row:
                pairs[operand.select, operand.relative, operand.channel // 2] = member.text(operand)
                if len(pairs) > CONSTANT_PAIRS:
                    message = (
                        f"a group can read {CONSTANT_PAIRS} halves (xy or zw) of constants; here are "
                        f"{', '.join(pairs.values())}: move one to another group, or copy it to a register"
                    )
                    raise IllegalGroupError(message, member.index)


def _explain(members: Sequence[_Member]) -> NoReturn:
    """Raise the error that says why no bank swizzles fit."""
    _explain_component(members)
    ports: _Ports = {}
    for member in sorted(members, key=lambda member: len(member.swizzles)):
        clashes = []
        for swizzle in member.swizzles:
            taken = dict(ports)
            clash = _clash(member, swizzle, taken)
            if not clash:
                ports = taken
                break
            clashes.append(clash)
        else:
            prefix = "no bank swizzle fits: " if len(clashes) > 1 else ""
            raise IllegalGroupError(prefix + clashes[0], member.index)
    message = "no bank swizzles fit these operands together: move an instruction to another group"
    raise IllegalGroupError(message, members[-1].index)


def _explain_component(members: Sequence[_Member]) -> None:
    """The usual reason: too many registers of one component."""
    for channel, letter in enumerate(COMPONENTS):
        names: dict[_Register, str] = {}
        for member in members:
            for operand in member.view.operands:
                if operand.is_register and operand.channel == channel:
                    names[operand.select, operand.relative] = member.text(operand)
                if len(names) > READ_CYCLES:
                    message = (
                        f"{', '.join(names.values())} cannot all be read: a group reads component {letter} "
                        f"of {READ_CYCLES} registers at most; move one to another group"
                    )
                    raise IllegalGroupError(message, member.index)


def _clash(member: _Member, swizzle: int, ports: _Ports) -> str:
    """Why a bank swizzle does not fit, empty if it does."""
    problem = _problem(member, swizzle)
    found = _reserve(frozenset(_reads(member, swizzle)), ports)
    if problem or found is None:
        return problem
    (cycle, channel, register), other = found
    first, second = (f"R{number}.{COMPONENTS[channel]}" for number, _ in (other, register))
    return (
        f"{first} and {second} cannot both be read in cycle {cycle}: a cycle reads one register of each component; "
        "choose other bank swizzles, or another group"
    )
