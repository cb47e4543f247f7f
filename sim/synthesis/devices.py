"""FPGAs: what there is room for."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells of an FPGA: those that something takes, or all that there are.

    `luts` are places for LUT4. `multipliers` have 18 x 18 bits, `block_rams` 16 Kibit.
    """

    luts: int = 0
    registers: int = 0
    block_rams: int = 0
    multipliers: int = 0

    def __add__(self, other: "Cells") -> "Cells":
        return Cells(**{name: getattr(self, name) + getattr(other, name) for name in CELLS})

    def __mul__(self, count: int) -> "Cells":
        return Cells(**{name: getattr(self, name) * count for name in CELLS})

    def lacks(self, room: "Cells") -> dict[str, int]:
        """What of these cells there is no room for, by the kinds of which there are too many."""
        missing = {name: getattr(self, name) - getattr(room, name) for name in CELLS}
        return {name: count for name, count in missing.items() if count > 0}


CELLS = {"luts": "LUT4", "registers": "flip-flops", "block_rams": "DP16KD", "multipliers": "MULT18X18D"}
"""The fields of `Cells`, and what people call them."""
assert list(CELLS) == [field.name for field in fields(Cells)]

DEVICES = {
    "25k": Cells(luts=24_288, registers=24_288, block_rams=56, multipliers=28),
    "45k": Cells(luts=43_848, registers=43_848, block_rams=108, multipliers=72),
    "85k": Cells(luts=83_640, registers=83_640, block_rams=208, multipliers=156),
}
"""The ECP5 family by nextpnr's names. Source: Lattice, ECP5 and ECP5-5G Family Data Sheet, table 1.1."""
