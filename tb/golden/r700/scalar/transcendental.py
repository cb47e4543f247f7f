"""Operations of the transcendental unit, and those made from them."""

from collections.abc import Callable

from ctm.tb.golden import scalar
from ctm.tb.golden.scalar.number import INFINITY, LARGEST, NAN, ZERO, flush, is_infinite, is_nan, is_zero, sign


def clamped(result: int) -> int:
    """The largest number of its sign for an infinity."""
    return sign(result) | LARGEST if is_infinite(result) else result


def without_infinity(result: int) -> int:
    """A zero of its sign for an infinity, of the _FF operations."""
    return sign(result) | ZERO if is_infinite(result) else result


def root(s0: int) -> int:
    """SQRT_IEEE: s0 / sqrt(s0) as one rounded product."""
    if is_zero(s0):
        return flush(s0)
    if is_nan(s0) or sign(s0):
        return NAN
    if is_infinite(s0):
        return INFINITY
    return scalar.multiply(s0, scalar.rsq(s0), False)


VALUES: dict[str, Callable[..., int]] = {
    "EXP_IEEE": scalar.ex2,
    "LOG_IEEE": scalar.ln2,
    "LOG_CLAMPED": lambda s0: clamped(scalar.ln2(s0)),
    "RECIP_IEEE": scalar.rcp,
    "RECIP_CLAMPED": lambda s0: clamped(scalar.rcp(s0)),
    "RECIP_FF": lambda s0: without_infinity(scalar.rcp(s0)),
    "RECIPSQRT_IEEE": scalar.rsq,
    "RECIPSQRT_CLAMPED": lambda s0: clamped(scalar.rsq(s0)),
    "RECIPSQRT_FF": lambda s0: without_infinity(scalar.rsq(s0)),
    "SQRT_IEEE": root,
    "SIN": scalar.sin,
    "COS": scalar.cos,
}
