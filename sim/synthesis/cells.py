"""Cells of an FPGA."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells that something takes, or all that there are; a family of FPGAs says what one of each kind is.

    `luts` are sites for logic.
    """

    luts: int = 0
    registers: int = 0
    block_rams: int = 0
    multipliers: int = 0

    def __add__(self, other: "Cells") -> "Cells":
        return Cells(**{name: getattr(self, name) + getattr(other, name) for name in KINDS})

    def __mul__(self, count: int) -> "Cells":
        return Cells(**{name: getattr(self, name) * count for name in KINDS})

    def lacks(self, capacity: "Cells") -> dict[str, int]:
        """The cells beyond a capacity, by the kinds of which there are too many."""
        missing = {name: getattr(self, name) - getattr(capacity, name) for name in KINDS}
        return {name: count for name, count in missing.items() if count > 0}


KINDS = tuple(field.name for field in fields(Cells))
"""The kinds of cells."""
