"""Results of a core beside those of the host."""

from collections.abc import Collection

import numpy as np

from ctm.tb.compiler.host import Results


def differences(found: Results, expected: Results, *, tolerance: float = 0.0, bits: Collection[int] = ()) -> int:
    """How many words differ.

    Floats are equal within a tolerance, relative above 1; any NaN is any other. Of the outputs in `bits` each bit
    counts, of memory too.
    """
    count = int((found.memory != expected.memory).sum())
    pairs = list(zip(found.outputs, expected.outputs, strict=True))
    for number, (one, other) in enumerate([*pairs, (found.conditional, expected.conditional)]):
        equal = one == other
        if number not in bits:
            equal |= _close(one.view(np.float32), other.view(np.float32), tolerance)
        count += int((~equal).sum())
    return count


def _close(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= tolerance * np.maximum(1, np.abs(other))
    equal: np.ndarray = near | (one == other) | (np.isnan(one) & np.isnan(other))
    return equal
