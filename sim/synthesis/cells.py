"""Cells of an FPGA."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells that something takes, or all that there are; a family of FPGAs says what one of each kind is.

    `luts` are places for logic.
    """

    luts: int = 0
    registers: int = 0
    block_rams: int = 0
    multipliers: int = 0

    def __add__(self, other: "Cells") -> "Cells":
        return Cells(**{name: getattr(self, name) + getattr(other, name) for name in KINDS})

    def __mul__(self, count: int) -> "Cells":
        return Cells(**{name: getattr(self, name) * count for name in KINDS})

    def lacks(self, room: "Cells") -> dict[str, int]:
        """What of these cells there is no room for, by the kinds of which there are too many."""
        missing = {name: getattr(self, name) - getattr(room, name) for name in KINDS}
        return {name: count for name, count in missing.items() if count > 0}


KINDS = tuple(field.name for field in fields(Cells))
"""The kinds of cells."""
