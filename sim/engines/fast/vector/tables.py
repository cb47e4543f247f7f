"""The table of the transcendental unit, as compiled code reads it."""

from functools import cache

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import (
    ADDRESS_BITS,
    ARGUMENT_BITS,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    SQUARE_ALIGNMENT,
    SUM_SHIFT,
)

ENTRIES = 1 << ADDRESS_BITS
ENTRY_WORDS = 4
"""Of a segment: c0 as a float64, c1 and c2 as floats, scaled so that their products add up in units of the result."""
SEGMENTS = ENTRIES * ENTRY_WORDS
"""Where the segments of the logarithm begin, in words."""
SEGMENT_WORDS = 2
"""Of an argument of the logarithm without its FINEST_BITS: its entry's number, and the segment's middle."""
FINEST_BITS = min(region.width_bits for region in LOGARITHM)
"""Arguments of the logarithm's narrowest segment, log2."""

_ENTRY = np.dtype([("c0", np.float64), ("c1", np.float32), ("c2", np.float32)])


@cache
def table() -> npt.NDArray[np.uint32]:
    """All entries, and behind them the segments of the logarithm."""
    entries = np.zeros(ENTRIES, _ENTRY)
    for entry, (c0, c1, c2) in zip(entries, COEFFICIENTS, strict=False):
        entry["c0"], entry["c1"], entry["c2"] = c0, c1 * 2.0**-SUM_SHIFT, c2 * 2.0 ** (SQUARE_ALIGNMENT - SUM_SHIFT)
    segments = np.zeros((1 << (ARGUMENT_BITS - FINEST_BITS), SEGMENT_WORDS), np.uint32)
    for number, segment in enumerate(segments):
        first = number << FINEST_BITS
        region = LOGARITHM[first >> (ARGUMENT_BITS - LOGARITHM_SELECT_BITS)]
        place = first >> region.width_bits
        segment[0] = region.base + place % region.entries
        segment[1] = (place << region.width_bits) + (1 << (region.width_bits - 1))
    return np.concatenate([entries.view(np.uint32), segments.ravel()])
