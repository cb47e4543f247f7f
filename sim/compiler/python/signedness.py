"""Operations on an int and a uint: what is compared or chosen of both has the value that Python gives it."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from ctm.sim.compiler.python.error import Problem
from ctm.sim.compiler.python.values import BOOL, EITHER, INT, UINT, Type, Value, converted, known, widest

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_OF_NUMBERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_MIXED = {
    "<": "ctm_less({0}, {1})", "<=": "!ctm_less({1}, {0})", ">": "ctm_less({1}, {0})", ">=": "!ctm_less({0}, {1})",
    "==": "ctm_equal({0}, {1})", "!=": "!ctm_equal({0}, {1})",
}  # fmt: skip
"""Comparisons of an int with a uint, or of a uint with an int."""
_HIGHEST_INT = (1 << 31) - 1


def mixes_signs(values: list[Value]) -> bool:
    """Whether some of these are uint and others may be negative, so that no type of 32 bits holds all of them."""
    kinds = {each.type.scalar for each in values}
    return not {UINT.scalar, EITHER.scalar}.isdisjoint(kinds) and any(map(_is_signed, values))


def comparison(operation: ast.cmpop, left: Value, right: Value) -> str:
    """A condition of C; Problem if these are not compared."""
    for is_second, each in enumerate((left, right)):
        if each.alternatives is not None:
            condition, *alternatives = each.alternatives
            pairs = [(left, alternative) if is_second else (alternative, right) for alternative in alternatives]
            one, two = (comparison(operation, *pair) for pair in pairs)
            return f"({condition} ? {one} : {two})"
    symbol = COMPARISONS[type(operation)]
    if left.constant is not None and right.constant is not None:
        return known(_OF_NUMBERS[symbol](left.constant, right.constant)).text
    found = widest([left.type, right.type])
    if found is None or found.is_vector:
        raise Problem("vectors are compared component by component")
    if found == UINT and mixes_signs([left, right]):
        return _MIXED[symbol].format(left.text, right.text)
    return f"{converted(left, found)} {symbol} {converted(right, found)}"


def chosen(condition: str, one: Value, two: Value) -> Value:
    """One value where a condition holds, and else the other; Problem if no type holds both."""
    kind = widest([one.type, two.type])
    if kind is None or one.type.size != two.type.size:
        raise Problem(f"it is {one.type} or {two.type}: make both the same")
    if kind.scalar in (UINT.scalar, EITHER.scalar) and mixes_signs([one, two]):
        if kind.is_vector:
            raise Problem(f"it is {one.type} or {two.type}: make both the same")
        if not all(_fits_int(each) for each in (one, two)):
            bits = f"({condition} ? {converted(one, UINT)} : {converted(two, UINT)})"
            return Value(bits, EITHER, alternatives=(condition, one, two))
        kind = INT
    return Value(f"({condition} ? {converted(one, kind)} : {converted(two, kind)})", kind)


def extreme(name: str, kind: Type, one: Value, two: Value) -> Value:
    """The min or max of two scalars of which `kind` is the widest type; an int holds the min of an int and a uint."""
    if kind != UINT or not mixes_signs([one, two]):
        return Value(f"{name}({converted(one, kind)}, {converted(two, kind)})", kind)
    signed, unsigned = (one, two) if one.type != UINT else (two, one)
    return Value(f"ctm_{name}({signed.text}, {unsigned.text})", INT if name == "min" else UINT)


def table_element(values: list[Value]) -> Type | None:
    """The type that holds all of these; None if there is none."""
    if not values or len({each.type.size for each in values}) > 1 or mixes_signs(values):
        return None
    return widest([each.type for each in values])


def _is_signed(value: Value) -> bool:
    """Whether it may be a negative whole number."""
    is_negative = value.constant is None or value.constant < 0
    return value.type.scalar in (INT.scalar, EITHER.scalar) and is_negative


def _fits_int(value: Value) -> bool:
    if value.type in (INT, BOOL):
        return True
    return value.type == UINT and value.constant is not None and value.constant <= _HIGHEST_INT
