"""FRC: a number minus its floor. Source: CTM Guide p. 28; docs/arithmetic.md."""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.rounding import flush_denormals, narrow
from ctm.sim.golden.fp.words import DOUBLE_FRACTION_BITS, FRACTION_BITS, LARGEST_BELOW_ONE, Floats

# Clears what a float32 cannot hold.
_TRUNCATE = np.int64(-1 << (DOUBLE_FRACTION_BITS - FRACTION_BITS))


def fraction(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """FRC: a - floor(a), rounded towards zero, in [0, 1); a NaN for infinities and NaNs. `out` may be `a`."""
    if not clean:
        a = flush_denormals(a)
    result = np.empty(a.shape, np.float32) if out is None else out
    with np.errstate(all="ignore"):
        for block in scratch.blocks(a.shape):
            value = scratch.take("fraction.value", result[block].shape, np.float64)
            floor = scratch.take("fraction.floor", result[block].shape, np.float64)
            np.copyto(value, a[block])
            np.floor(value, out=floor)
            # Exact, except below 1, where the difference may be rounded up to 1 but to no other float32.
            np.subtract(value, floor, out=value)
            np.minimum(value, LARGEST_BELOW_ONE, out=value)
            bits = value.view(np.int64)
            np.bitwise_and(bits, _TRUNCATE, out=bits)
            narrow(value, result[block])
    return result
