"""Operations of the transcendental unit, whose results are those of `fp`, and those made from them."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import LARGEST, Floats
from ctm.sim.golden.r700.formulas.comparison import flushed
from ctm.sim.golden.r700.formulas.kinds import Value


def _without_infinities(formula: Value, replacement: np.float32) -> Value:
    """The result of `formula`, but `replacement` with an infinity's sign for it."""

    def value(x: Floats, *, clean: bool = False) -> Floats:
        result = formula(x, clean=clean)
        infinite = np.isinf(result)
        if infinite.any():
            np.copysign(replacement, result, out=result, where=infinite)
        return result

    return value


def _root(x: Floats, *, clean: bool = False) -> Floats:
    """X / sqrt(x) as a rounded product; zeros and +infinity are their own roots."""
    x = flushed(x, clean)
    result = fp.multiply(x, fp.rsq(x, clean=True), zero_times_anything=False, clean=True)
    own = (x == 0) | (x == np.inf)
    if own.any():
        result[own] = x[own]
    return result


_ZERO = np.float32(0)

VALUES: dict[str, Value] = {
    "EXP_IEEE": fp.ex2,
    "LOG_IEEE": fp.ln2,
    "LOG_CLAMPED": _without_infinities(fp.ln2, LARGEST),
    "RECIP_IEEE": fp.rcp,
    "RECIP_CLAMPED": _without_infinities(fp.rcp, LARGEST),
    "RECIP_FF": _without_infinities(fp.rcp, _ZERO),
    "RECIPSQRT_IEEE": fp.rsq,
    "RECIPSQRT_CLAMPED": _without_infinities(fp.rsq, LARGEST),
    "RECIPSQRT_FF": _without_infinities(fp.rsq, _ZERO),
    "SQRT_IEEE": _root,
    "SIN": fp.sin,
    "COS": fp.cos,
}
