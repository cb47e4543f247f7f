"""Values of registers as people read and write them."""

import struct

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.views import BIT, FLOAT, Value

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
    if not -(1 << 31) <= word < 1 << 32:
        raise DebugError(f"{text} has more than 32 bits")
    return word & 0xFFFF_FFFF
