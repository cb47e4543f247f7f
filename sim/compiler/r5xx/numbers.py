"""Numbers that do not fit instructions, in float constants that the kernel does not name, from the last one."""

import struct
from collections.abc import Iterable

from ctm.rtl.isa.limits import FLOAT_CONSTANTS

NATIVE = {0.0: "0", 0.5: "h", 1.0: "1"}
"""Numbers that swizzles have."""
_COLOURS = 3
"""Red, green and blue hold numbers: both units reach those by one address."""


class TooManyConstantsError(Exception):
    """There are not enough float constants left for the kernel's numbers."""


class Numbers:
    """Rows of up to three numbers; numbers that one operand of an instruction needs are in one row."""

    def __init__(self, used: Iterable[int]) -> None:
        self._free = sorted({*range(FLOAT_CONSTANTS)} - {*used})
        self._rows: dict[int, list[int]] = {}

    @property
    def words(self) -> dict[int, tuple[int, ...]]:
        """The words of each float constant that is taken."""
        return {number: (*row, *(0 for _ in range(_COLOURS + 1 - len(row)))) for number, row in self._rows.items()}

    def allocate(self, values: Iterable[float]) -> tuple[str, dict[float, str]]:
        """The register that holds these numbers, three at most, and the letter of each.

        Raises
        ------
        TooManyConstantsError
            All constants are taken.
        """
        words = {value: _word(value) for value in values}
        wanted = set(words.values())
        number = next((number for number, row in self._rows.items() if len(wanted | {*row}) <= _COLOURS), None)
        if number is None:
            if not self._free:
                raise TooManyConstantsError
            number = self._free.pop()
        row = self._rows.setdefault(number, [])
        row += (word for word in sorted(wanted) if word not in row)
        return f"c{number}", {value: "rgb"[row.index(word)] for value, word in words.items()}


def _word(value: float) -> int:
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000
