"""Rounding to integral values, which are float32 again; the sign of a zero is kept."""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.rounding import canonicalise_nan, flush_denormals
from ctm.sim.golden.fp.words import Floats


def trunc(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """`a` rounded towards zero. `clean` promises that no operand is a denormal; `out` may be `a`, here and below."""
    return _round(np.trunc, a, clean, out)


def ceil(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """The smallest integral value that is not below `a`."""
    return _round(np.ceil, a, clean, out)


def rint(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """The integral value nearest to `a`, ties to even."""
    return _round(np.rint, a, clean, out)


def floor(a: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """The largest integral value that is not above `a`."""
    return _round(np.floor, a, clean, out)


def _round(rounding: np.ufunc, a: Floats, clean: bool, out: Floats | None) -> Floats:
    if not clean:
        a = flush_denormals(a)
    result = np.empty(a.shape, np.float32) if out is None else out
    with np.errstate(all="ignore"):
        for block in scratch.blocks(a.shape):
            section = result[block]
            rounding(a[block], out=section)
            canonicalise_nan(section)
    return result
