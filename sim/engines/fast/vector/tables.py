"""The table of the transcendental unit, as compiled code reads it."""

from functools import cache

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import ADDRESS_BITS, SQUARE_ALIGNMENT, SQUARE_SHIFT, SUM_SHIFT

ENTRY_WORDS = 4
"""Of a segment: c0 as a float64, c1 and c2 as floats, scaled so that their products add up in units of the result."""
DISTANCE_SHIFT = SQUARE_SHIFT // 2
"""c1 is for distances in units of 2^DISTANCE_SHIFT, whose squares are what SQUARE_SHIFT leaves."""

_ENTRY = np.dtype([("c0", np.float64), ("c1", np.float32), ("c2", np.float32)])


@cache
def table() -> npt.NDArray[np.uint32]:
    """All entries."""
    entries = np.zeros(1 << ADDRESS_BITS, _ENTRY)
    for entry, (c0, c1, c2) in zip(entries, COEFFICIENTS, strict=False):
        entry["c0"] = c0
        entry["c1"] = c1 * 2.0 ** (DISTANCE_SHIFT - SUM_SHIFT)
        entry["c2"] = c2 * 2.0 ** (SQUARE_ALIGNMENT - SUM_SHIFT)
    return entries.view(np.uint32)
