"""Comparisons of floats as differences against 0, with NaNs and infinities as IEEE 754 has them.

A difference says all but of two equal infinities, which it is NaN of. That matters where a comparison holds for equal
numbers, and only if neither of the two is a finite number that is known.
"""

import math

from ctm.sim.compiler.r5xx.operations import Operand
from ctm.sim.compiler.r5xx.values import LARGEST, ZERO, Condition, Values

_TESTS = {"lt": ("<0", False), "gt": ("<0", True), "ge": (">=0", False), "le": (">=0", True), "eq": ("==0", False)}
"""The test of a difference, and whether its two operands are swapped."""
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def compared(to: Values, kind: str, left: Operand, right: Operand, *, is_ordinary: bool) -> Condition:
    """A condition of LLVM, by its name: `oeq`, `ult`, ... or `ord` and `uno`."""
    if kind in ("ord", "uno"):
        # A sum of two magnitudes is never less than 0, and a NaN is not 0 or more.
        return Condition(abs(left), -abs(right), ">=0", kind == "uno")
    is_inverted, relation = kind[0] == "u", kind[1:]
    if is_inverted:
        relation = _OPPOSITE[relation]
    if relation == "ne":
        return _unequal(to, left, right, is_inverted=is_inverted, is_ordinary=is_ordinary)
    limit = right.value
    if limit in (math.inf, -math.inf) and isinstance(limit, float) and not is_ordinary:
        return _against_infinity(relation, left, limit, is_inverted=is_inverted)
    test, is_swapped = _TESTS[relation]
    if is_swapped:
        left, right = right, left
    if test != "<0" and not (is_ordinary or _is_number(left) or _is_number(right)):
        left, right = to.equality(left, right), ZERO
    return Condition(left, right, test, is_inverted, is_ordinary)


def _unequal(to: Values, left: Operand, right: Operand, *, is_inverted: bool, is_ordinary: bool) -> Condition:
    """Less or greater; a difference that is NaN is neither."""
    if is_ordinary:
        return Condition(left, right, "!=0", is_inverted, is_ordinary=True)
    difference = left if right == ZERO else to.new("ADD", left, -right)
    return Condition(-abs(difference), ZERO, "<0", is_inverted)


def _against_infinity(relation: str, value: Operand, limit: float, *, is_inverted: bool) -> Condition:
    """Beside infinity: equal is what is beyond the largest number, and no NaN is less or equal."""
    if limit < 0:
        return _against_infinity(_TURNED.get(relation, relation), -value, -limit, is_inverted=is_inverted)
    if relation in ("eq", "ge"):
        return Condition(Operand(LARGEST), value, "<0", is_inverted)
    if relation == "le":
        return Condition(abs(value), ZERO, ">=0", is_inverted)
    left, right = (value, Operand(limit)) if relation == "lt" else (Operand(limit), value)
    return Condition(left, right, "<0", is_inverted)


def _is_number(operand: Operand) -> bool:
    return isinstance(operand.value, float) and math.isfinite(operand.value)


def extreme(kind: str, left: Operand, right: Operand, yes: Operand, no: Operand) -> tuple[str, Operand, Operand] | None:
    """The operation that chooses the smaller or the larger of two as a comparison of them does, with its operands.

    MIN and MAX give their second operand where one is NaN. None if what is chosen are other values.
    """
    if kind[1:] not in _TURNED or {yes, no} != {left, right}:
        return None
    is_less = kind[1] == "l"
    name = "MIN" if is_less == (yes == left) else "MAX"
    of_nan = yes if kind[0] == "u" else no
    return name, yes if of_nan == no else no, of_nan
