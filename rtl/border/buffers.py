"""Descriptors of an input, an output or the conditional buffer.

Source: CTM Guide pp. 5-7, 13-22.
"""

from amaranth.lib import data

from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import COORDINATE_BITS, COORDINATE_LIMIT

LIMIT_BITS = COORDINATE_BITS + 1
STRIDE_BITS = 12

LIMITS = data.StructLayout({"width": LIMIT_BITS, "height": LIMIT_BITS})
"""Columns and rows that exist, 0 to 4096."""

BUFFER = data.StructLayout(
    {
        "base": ADDRESS["base"].width,
        "pitch": LIMIT_BITS,
        "height": LIMIT_BITS,
        "limits": LIMITS,
        "format": DataFormat,
        "tiled": 1,
        "gathers": 1,
        "stride": STRIDE_BITS,
    }
)
"""`base` counts 2 KiB. `pitch` and `height` are the factors of scaled coordinates; a height of 0 means 4096.

`gathers` is the 2x2 mode, which only inputs have. `stride` is the distance of two rows in units of 32 bytes, or, of a
tiled buffer, of two rows of tiles in tiles.

An *area* is an output, FLOAT32_1 in rows, as a linear array of words: its pair (x, y) is word y * 4096 + x. The
memory controller does not check its bounds.
"""

RESET_BUFFER = {"height": COORDINATE_LIMIT, "limits": {"width": 0, "height": COORDINATE_LIMIT}}
"""The descriptor of a buffer that no command has set: all words 0."""
