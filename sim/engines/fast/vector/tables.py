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
FINEST_BITS = min(region.width_bits for region in LOGARITHM)
"""Arguments of the logarithm's narrowest segment, log2."""
CONSTANT, LINEAR, QUADRATIC, SEGMENT_ADDRESS, SEGMENT_MIDDLE = (row * ENTRIES for row in range(5))
"""Where each row begins, in elements. The last two are by an argument of the logarithm without its FINEST_BITS."""


@cache
def table() -> npt.NDArray[np.float64]:
    """All rows, one behind the other; coefficients are scaled so that their products add up in units of the result."""
    rows = np.zeros((5, ENTRIES))
    c0, c1, c2 = (np.array(column, np.float64) for column in zip(*COEFFICIENTS, strict=True))
    rows[0, : len(c0)] = c0
    rows[1, : len(c1)] = c1 * 2.0**-SUM_SHIFT
    rows[2, : len(c2)] = c2 * 2.0 ** (SQUARE_ALIGNMENT - SUM_SHIFT)
    for number in range(1 << (ARGUMENT_BITS - FINEST_BITS)):
        first = number << FINEST_BITS
        region = LOGARITHM[first >> (ARGUMENT_BITS - LOGARITHM_SELECT_BITS)]
        segment = first >> region.width_bits
        rows[3, number] = region.base + segment % region.entries
        rows[4, number] = (segment << region.width_bits) + (1 << (region.width_bits - 1))
    return rows.ravel()
