"""Sets of registers, and the record of what one instruction uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Registers:
    """Registers of one file: those addressed by number, and whether some are addressed relative to aL."""

    direct: frozenset[int] = frozenset()
    relative: bool = False

    def __or__(self, other: Registers) -> Registers:
        return Registers(self.direct | other.direct, self.relative or other.relative)

    def __bool__(self) -> bool:
        return bool(self.direct) or self.relative

    def overlaps(self, other: Registers) -> bool:
        """Whether both may hold the same register; a relative address may be any."""
        if self.relative or other.relative:
            return bool(self) and bool(other)
        return not self.direct.isdisjoint(other.direct)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Temporaries, float constants, input, outputs and int constant of one instruction.

    `bubble` is what the preceding ALU or OUTPUT instruction may only write if it has NOP: the temporaries of a
    presubtract, and source 0 of MDH and MDV (CTM Guide p. 26; R5xx register reference, US_CMN_INST).
    """

    reads: Registers = Registers()
    writes: Registers = Registers()
    bubble: Registers = Registers()
    constants: Registers = Registers()
    input: int | None = None
    outputs: frozenset[int] = frozenset()
    conditional_output: bool = False
    int_constant: int | None = None
