"""Numbers in a text and the 32-bit words that they mean."""

import struct

from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS
from ctm.sim.assembler.cursor import number
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.tokens import Token

WORD = 1 << 32
SIGN = 1 << 31

INLINE_BY_WORD = {word: select for select, (name, word) in INLINE_CONSTANTS.items() if "DBL" not in name}
"""The inline constant of a word; halves of doubles are taken only where their names are written."""
INLINE_BY_NAME = {name.lower(): select for select, (name, _) in INLINE_CONSTANTS.items() if "_" in name}
"""Those that are written as names; the others are written as numbers."""


def word_of(token: Token, *, negative: bool) -> tuple[int, bool]:
    """The word that a NUMBER with its sign means, and whether it is a float: one with a point or an exponent."""
    value = number(token)
    if isinstance(value, float):
        try:
            (word,) = struct.unpack("<I", struct.pack("<f", value))
        except OverflowError:
            raise SourceError(f"{token.text} is too large for a float", token.position) from None
        return word | (SIGN if negative else 0), True
    value = -value if negative else value
    if not -SIGN <= value < WORD:
        raise SourceError(f"{token.text} does not fit 32 bits", token.position)
    return value % WORD, False


def text_of(word: int) -> str:
    """A number that means a word: a float if it is a usual one, else an integer."""
    (value,) = struct.unpack("<f", struct.pack("<I", word))
    exponent = word >> 23 & 0xFF
    if not 127 - 40 <= exponent <= 127 + 40:
        return str(word) if word < 1 << 16 else f"0x{word:08x}"
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<I", word):
            break
    mantissa, mark, power = text.partition("e")
    return text if mark or "." in mantissa else f"{mantissa}.0{power}"
