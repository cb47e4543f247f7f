"""Values of registers as people read and write them."""

import re
import struct

import numpy as np

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.views import BIT, FLOAT, Value

_LONG = re.compile(r"[0-9]{1000,}")
_NO_NAME = re.compile(r"[\0\ud800-\udfff]")
CHANNELS = {"r5xx": "rgba", "r700": "xyzw"}
"""Names of a register's channels, by instruction set."""


def number_text(value: Value, channel: int, lane: int) -> str:
    """A channel in a lane; of a float the bits, too."""
    number, word = value.numbers[channel, lane], int(value.words[channel, lane])
    if value.kind == BIT:
        return str(int(number))
    return f"{number:.9g} (0x{word:08x})" if value.kind == FLOAT else str(int(number))


def word_of(text: str) -> int:
    """The 32 bits of a value; DebugError: it is none."""
    try:
        if text.lower().startswith("0x"):
            word = int(text, 16)
        elif text.endswith("i"):
            word = int(text[:-1])
        else:
            return int(struct.unpack("<I", struct.pack("<f", float(text)))[0])
    except (ValueError, OverflowError):
        raise DebugError(f"'{text}' is no value: 1.5, 7i and 0x3f800000 are") from None
    return checked_word(word, text)


def check_text(text: str) -> None:
    """DebugError: a text has a number with too many digits to be read, or what no name of a file may have."""
    if found := _LONG.search(text):
        raise DebugError(f"{found[0][:20]}... has too many digits")
    if found := _NO_NAME.search(text):
        raise DebugError(f"a text has the character {found[0]!r}, which no name has")


def count_of(text: str) -> int:
    """A count or a line as it is typed, 1 if nothing is; DebugError: it is none."""
    if text and not text.isdecimal():
        raise DebugError(f"'{text}' is no number")
    count = int(text or 1)
    if not count:
        raise DebugError("0 is too few: counts and lines begin at 1")
    return count


def checked_lane(lane: object, count: int) -> int:
    """A lane of a wavefront that has `count`; DebugError: it is none."""
    if not isinstance(lane, int | np.integer) or not 0 <= lane < count:
        raise DebugError(f"a wavefront has lanes 0 to {count - 1}, not {lane!r}")
    return int(lane)


def checked_word(word: object, text: str | None = None) -> int:
    """32 bits as they are kept, of a whole number with or without a sign that messages call `text`.

    Raises
    ------
    DebugError
        It is no whole number, or has more bits.
    """
    if not isinstance(word, int | np.integer):
        raise DebugError(f"a word of 32 bits is wanted, not {word!r}: np.float32(1.5).view(np.uint32) are those of 1.5")
    number = int(word)
    if not -(1 << 31) <= number < 1 << 32:
        raise DebugError(f"{text or number} has more than 32 bits")
    return number & 0xFFFF_FFFF
