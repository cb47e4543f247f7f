"""Comparisons of two words as floats and as integers."""

import operator
from collections.abc import Callable

from ctm.tb.golden.r700.scalar.integer import signed
from ctm.tb.golden.scalar.number import is_nan, order

_CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "E": operator.eq,
    "NE": operator.ne,
    "GT": operator.gt,
    "GE": operator.ge,
    "LT": operator.lt,
    "LE": operator.le,
}


def holds(condition: str, a: int, b: int) -> bool:
    """Whether floats compare so: denormals are zeros, zeros are equal, and of a NaN only NE holds."""
    if is_nan(a) or is_nan(b):
        return condition == "NE"
    return _CONDITIONS[condition](order(a), order(b))


def holds_signed(condition: str, a: int, b: int) -> bool:
    """Whether signed integers compare so."""
    return _CONDITIONS[condition](signed(a), signed(b))


def holds_unsigned(condition: str, a: int, b: int) -> bool:
    """Whether unsigned integers compare so."""
    return _CONDITIONS[condition](a, b)


def passes(name: str, a: int, b: int) -> bool:
    """A comparison by the suffix of an operation's name: GT, GT_INT, GT_UINT."""
    condition, _, kind = name.partition("_")
    return {"": holds, "INT": holds_signed, "UINT": holds_unsigned}[kind](condition, a, b)


TESTS = ("E", "GT", "GE", "NE", "E_INT", "GT_INT", "GE_INT", "NE_INT", "GT_UINT", "GE_UINT")
"""What SET, PRED_SET and KILL have in common."""
