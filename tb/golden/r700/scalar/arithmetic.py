"""Sums and products of floats, and rounding to integral values."""

from collections.abc import Callable
from functools import partial

from ctm.tb.golden import scalar
from ctm.tb.golden.r700.scalar.modifiers import scale
from ctm.tb.golden.scalar.number import INFINITY, LARGEST, SIGN, is_nan, order

_MINUS_LARGEST = SIGN | LARGEST
_MINUS_INFINITY = SIGN | INFINITY


def multiply_lit(s0: int, s1: int, s2: int) -> int:
    """-MAX_FLOAT where a specular highlight is dark, else a product, with the rule that zero times anything is zero."""
    if is_nan(s1) or s1 in (_MINUS_LARGEST, _MINUS_INFINITY):
        return _MINUS_LARGEST
    if is_nan(s2) or order(s2) <= 0:
        return _MINUS_LARGEST
    return scalar.multiply(s0, s1, True)


def muladd(s0: int, s1: int, s2: int) -> int:
    """MULADD."""
    return scalar.multiply_then_add(s0, s1, s2, True)


def muladd_ieee(s0: int, s1: int, s2: int) -> int:
    """MULADD_IEEE."""
    return scalar.multiply_then_add(s0, s1, s2, False)


def _scaled(formula: Callable[[int, int, int], int], omod: int, s0: int, s1: int, s2: int) -> int:
    return scale(formula(s0, s1, s2), omod)


VALUES: dict[str, Callable[..., int]] = {
    "ADD": scalar.add,
    "MUL": lambda s0, s1: scalar.multiply(s0, s1, True),
    "MUL_IEEE": lambda s0, s1: scalar.multiply(s0, s1, False),
    "FRACT": scalar.fraction,
    "TRUNC": scalar.trunc,
    "CEIL": scalar.ceil,
    "RNDNE": scalar.rint,
    "FLOOR": scalar.floor,
    "MULADD": muladd,
    "MULADD_M2": partial(_scaled, muladd, 1),
    "MULADD_M4": partial(_scaled, muladd, 2),
    "MULADD_D2": partial(_scaled, muladd, 3),
    "MULADD_IEEE": muladd_ieee,
    "MULADD_IEEE_M2": partial(_scaled, muladd_ieee, 1),
    "MULADD_IEEE_M4": partial(_scaled, muladd_ieee, 2),
    "MULADD_IEEE_D2": partial(_scaled, muladd_ieee, 3),
    "MUL_LIT": multiply_lit,
    "MUL_LIT_M2": partial(_scaled, multiply_lit, 1),
    "MUL_LIT_M4": partial(_scaled, multiply_lit, 2),
    "MUL_LIT_D2": partial(_scaled, multiply_lit, 3),
}
