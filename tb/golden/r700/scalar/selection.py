"""Copies, choices among operands, and the words that tell whether a comparison holds."""

from collections.abc import Callable
from functools import partial

from ctm.tb.golden.r700.scalar.comparison import TESTS, holds, holds_signed, passes
from ctm.tb.golden.scalar.number import ONE, ZERO, is_nan

_ALL_ONES = 0xFFFF_FFFF


def copy(s0: int) -> int:
    """The operand's bits."""
    return s0


def maximum(s0: int, s1: int) -> int:
    """MAX."""
    return s0 if holds("GE", s0, s1) else s1


def minimum(s0: int, s1: int) -> int:
    """MIN."""
    return s0 if holds("LT", s0, s1) else s1


def maximum_dx10(s0: int, s1: int) -> int:
    """MAX_DX10: a number is preferred to a NaN."""
    if is_nan(s0) or is_nan(s1):
        return s1 if is_nan(s0) else s0
    return maximum(s0, s1)


def minimum_dx10(s0: int, s1: int) -> int:
    """MIN_DX10: a number is preferred to a NaN."""
    if is_nan(s0) or is_nan(s1):
        return s1 if is_nan(s0) else s0
    return minimum(s0, s1)


def _select(condition: str, s0: int, s1: int, s2: int) -> int:
    return s1 if holds(condition, s0, ZERO) else s2


def _select_integer(condition: str, s0: int, s1: int, s2: int) -> int:
    return s1 if holds_signed(condition, s0, 0) else s2


def _number(name: str, s0: int, s1: int) -> int:
    return ONE if passes(name, s0, s1) else ZERO


def _ones(name: str, s0: int, s1: int) -> int:
    return _ALL_ONES if passes(name, s0, s1) else 0


VALUES: dict[str, Callable[..., int]] = {
    "NOP": lambda: ZERO,
    "MOV": copy,
    "MOVA": copy,
    "MOVA_FLOOR": copy,
    "MOVA_INT": copy,
    "MAX": maximum,
    "MIN": minimum,
    "MAX_DX10": maximum_dx10,
    "MIN_DX10": minimum_dx10,
}
for _condition in ("E", "GT", "GE"):
    VALUES[f"CND{_condition}"] = partial(_select, _condition)
    VALUES[f"CND{_condition}_INT"] = partial(_select_integer, _condition)
for _name in TESTS:
    if _name.endswith("INT"):
        VALUES[f"SET{_name}"] = partial(_ones, _name)
    else:
        VALUES[f"SET{_name}"] = partial(_number, _name)
        VALUES[f"SET{_name}_DX10"] = partial(_ones, _name)
