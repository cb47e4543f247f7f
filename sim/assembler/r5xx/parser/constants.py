"""`.constant`: values of constants that a program brings along."""

import re
import struct
from dataclasses import dataclass, field

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.sim.assembler.cursor import Cursor, number
from ctm.sim.assembler.tokens import Kind
from ctm.sim.elf.constants import OwnConstants

_NAME = re.compile(r"([ci])([0-9]{1,3})", re.IGNORECASE)
_INT_FIELDS = {"the count": (0, 256), "the first aL": (0, 256), "the step of aL": (-128, 128)}
"""The fields of an int constant's word, from bit 0 on, 8 bits each, with their limits."""


@dataclass
class Constants:
    """Constants that directives gave values to."""

    floats: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ints: dict[int, int] = field(default_factory=dict)

    @property
    def own(self) -> OwnConstants:
        """As executables have them."""
        return OwnConstants(self.floats, self.ints)

    def parse(self, cursor: Cursor) -> None:
        """`c3 = 1.0, 0, 0, 0x3f800000` or `i0 = 16, 0, 1`, after the directive's name.

        Raises
        ------
        SourceError
            There is no such constant, it has a value, or the value is wrong.
        """
        token = cursor.expect_name("a constant")
        found = _NAME.fullmatch(token.text)
        limits = {"c": FLOAT_CONSTANTS, "i": INT_CONSTANTS}
        if found is None or int(found[2]) >= limits[found[1].lower()]:
            cursor.fail_at(f"expected c0 to c255 or i0 to i31, not {token.text!r}", token.position)
        is_float, index = found[1].lower() == "c", int(found[2])
        if index in (self.floats if is_float else self.ints):
            cursor.fail_at(f"{token.text} has a value already", token.position)
        cursor.expect("=")
        if is_float:
            self.floats[index] = _row(cursor)
        else:
            self.ints[index] = _loop(cursor)


def _row(cursor: Cursor) -> tuple[int, ...]:
    words = [_float(cursor)]
    for _ in range(CHANNELS - 1):
        cursor.expect(",")
        words.append(_float(cursor))
    return tuple(words)


def _float(cursor: Cursor) -> int:
    """A number, or its bits as 0x..."""
    if _is_bits(cursor):
        return cursor.integer("the bits of a number", 1 << 32)
    sign = -1.0 if cursor.accept("-") else 1.0
    if cursor.token.kind is not Kind.NUMBER:
        cursor.fail(f"expected a number, not {cursor.described()}")
    token = cursor.take()
    try:
        word: int = struct.unpack("<I", struct.pack("<f", sign * number(token)))[0]
    except OverflowError:
        cursor.fail_at(f"{token.text} is too large for a float", token.position)
    return word


def _loop(cursor: Cursor) -> int:
    """Count, first aL and step, or the word as 0x..."""
    if _is_bits(cursor):
        return cursor.integer("the word of an int constant", 1 << 32)
    word = 0
    for at, (what, (least, limit)) in enumerate(_INT_FIELDS.items()):
        if at:
            cursor.expect(",")
        position, is_negative = cursor.position, cursor.accept("-") is not None
        value = cursor.integer(what, 256)
        value = -value if is_negative else value
        if not least <= value < limit:
            cursor.fail_at(f"{what} must be {least}..{limit - 1}, not {value}", position)
        word |= (value & 0xFF) << 8 * at
    return word


def _is_bits(cursor: Cursor) -> bool:
    return cursor.token.kind is Kind.NUMBER and cursor.token.text.lower().startswith("0x")
