"""The rule of the read ports, by itself: the three cycles of a group, looked at one after another.

In each cycle every channel of the register file gives one register. A constant of slot t takes cycle 0, a second one
cycle 1, and nothing of slot t but constants is read then. Relative operands of a group are taken to have one index.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

TRANS = 4
VECTOR_CYCLES = ((0, 1, 2), (0, 2, 1), (1, 2, 0), (1, 0, 2), (2, 0, 1), (2, 1, 0))
TRANS_CYCLES = ((2, 1, 0), (1, 2, 2), (2, 1, 2), (2, 2, 1))
"""Of each BANK_SWIZZLE, the cycles of operands 0, 1 and 2."""


class Read(NamedTuple):
    """An operand. `kind` is "register", "constant" (of the kcache), "value" (another one) or "previous" (a result).

    `number` is the register, or the operand's select.
    """

    kind: str
    number: int
    channel: int
    relative: bool


def cycles_of(position: int) -> tuple[tuple[int, ...], ...]:
    """The cycles of each BANK_SWIZZLE of a slot."""
    return TRANS_CYCLES if position == TRANS else VECTOR_CYCLES


def port_reads(position: int, swizzle: int, reads: Sequence[Read]) -> Iterator[tuple[int, Read]] | None:
    """The registers that a slot reads, each with its cycle; None if slot t cannot read its operands so."""
    cycles = cycles_of(position)[swizzle]
    if position != TRANS:
        # One read serves both operands.
        doubled = len(reads) > 1 and reads[0].kind == "register" and reads[0] == reads[1]
        return iter(
            (cycles[at], read) for at, read in enumerate(reads) if read.kind == "register" and not (at == 1 and doubled)
        )
    constants = sum(read.kind in ("constant", "value") for read in reads)
    if constants > 2:
        return None
    others = [(cycles[at], read) for at, read in enumerate(reads) if read.kind in ("register", "previous")]
    if any(cycle < constants for cycle, _ in others):
        return None
    return iter((cycle, read) for cycle, read in others if read.kind == "register")


def fits(group: Sequence[tuple[int, Sequence[Read]]], swizzles: Sequence[int]) -> bool:
    """Whether slots (position, operands) can read together with these swizzles, constants apart."""
    ports: dict[tuple[int, int], tuple[int, bool]] = {}
    for (position, reads), swizzle in zip(group, swizzles, strict=False):
        found = port_reads(position, swizzle, reads)
        if found is None:
            return False
        for cycle, read in found:
            register = read.number, read.relative
            if ports.setdefault((cycle, read.channel), register) != register:
                return False
    return True


def constant_pairs(group: Sequence[tuple[int, Sequence[Read]]]) -> int:
    """How many pairs of constants are read: halves of rows of the kcache."""
    return len(
        {
            (read.number, read.relative, read.channel >= 2)
            for _, reads in group
            for read in reads
            if read.kind == "constant"
        }
    )


def choose(group: Sequence[tuple[int, Sequence[Read]]], given: Sequence[int | None]) -> list[int]:
    """Swizzles for all slots, those that are given among them; 0 for all others if there are none that fit."""
    found = _search(group, given, [])
    return found if found is not None else [swizzle or 0 for swizzle in given]


def _search(
    group: Sequence[tuple[int, Sequence[Read]]], given: Sequence[int | None], chosen: list[int]
) -> list[int] | None:
    at = len(chosen)
    if at == len(group):
        return chosen
    wanted = given[at]
    if wanted is not None:
        # Given ones may be wrong on purpose.
        return _search(group, given, [*chosen, wanted])
    for swizzle in range(len(cycles_of(group[at][0]))):
        if fits(group[: at + 1], [*chosen, swizzle]):
            found = _search(group, given, [*chosen, swizzle])
            if found is not None:
                return found
    return None
