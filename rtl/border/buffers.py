"""Descriptors of an input, an output or the conditional buffer.

Source: CTM Guide pp. 5-7, 13-22.
"""

from amaranth import Cat, Mux, Value
from amaranth.lib import data

from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import COORDINATE_BITS, COORDINATE_LIMIT, INPUTS

LIMIT_BITS = COORDINATE_BITS + 1
STRIDE_BITS = 12

LIMITS = data.StructLayout({"width": LIMIT_BITS, "height": LIMIT_BITS})
"""Columns and rows that exist, 0 to 4096."""

EXTENT = data.StructLayout({"pitch": LIMIT_BITS, "height": LIMIT_BITS})
"""Pitch and height as commands set them, but that a height of 0 is 4096: the factors of scaled coordinates."""

BUFFER = data.StructLayout(
    {
        "base": ADDRESS["base"].width,
        "pitch": LIMIT_BITS,
        "height": LIMIT_BITS,
        "format": DataFormat,
        "tiled": 1,
        "gathers": 1,
        "stride": STRIDE_BITS,
    }
)
"""`base` counts 2 KiB. `pitch` and `height` are as in `EXTENT`.

`gathers` is the 2x2 mode, which only inputs have. `stride` is the distance of two rows in units of 32 bytes, or, of a
tiled buffer, of two rows of tiles in tiles.

An *area* is an output, FLOAT32_1 in rows, as a linear array of words: its pair (x, y) is word y * 4096 + x. The
memory controller does not check its bounds.
"""

RESET_EXTENT = {"height": COORDINATE_LIMIT}
RESET_BUFFER = RESET_EXTENT
"""The descriptor of a buffer that no command has set: all words 0."""

INPUT_WRITE = data.StructLayout({"valid": 1, "number": range(INPUTS), "buffer": BUFFER})
"""For a cycle: the input `number` is set."""


def limits_of(buffer: "data.View[data.StructLayout]") -> "data.View[data.StructLayout]":
    """The limits of a `BUFFER` or an `EXTENT`: pitch and height, 4096 at most."""
    return LIMITS(Cat(_at_most_all(buffer.pitch), _at_most_all(buffer.height)))


def has_pair(buffer: "data.View[data.StructLayout]", x: Value, y: Value) -> Value:
    """Whether a pair is inside the limits of a `BUFFER`. It does not wait for the limits."""
    inside: Value = (x < buffer.pitch) & (y < buffer.height)
    return inside & ~x[COORDINATE_BITS:].any() & ~y[COORDINATE_BITS:].any()


def _at_most_all(count: Value) -> Value:
    """The smaller of `count` and the coordinate limit."""
    return Mux(count[COORDINATE_BITS], COORDINATE_LIMIT, count)
