"""The slot controls of each ALU operation, from the table in rtl/isa/r700/operations.py."""

from collections.abc import Iterator, Mapping
from typing import Any

from amaranth.lib import data

from ctm.rtl.fp.reduction import Function
from ctm.rtl.isa.r700.operations import Operation, Result, Slots
from ctm.rtl.r700.border.lane import IntegerOperation, Lhs, Limit, PostMultiply, Relation, Rhs, Source, Sum, Test, Type

Fields = Mapping[str, Any]
"""Values of fields of a record by name; fields without a name are 0."""

_CONDITIONS = {
    "E": ("equal",),
    "GT": ("greater",),
    "GE": ("greater", "equal"),
    "NE": ("less", "greater", "first_nan", "second_nan"),
    "LT": ("less",),
    "LE": ("less", "equal"),
}
_TYPES = {"": Type.FLOAT, "INT": Type.SIGNED, "UINT": Type.UNSIGNED}
_SCALES = {"": 0, "M2": 1, "M4": 2, "D2": -1}


def _accepting(*relations: str) -> Fields:
    return {"accepts": {name: int(name in relations) for name, _ in data.Layout.cast(Relation)}}


def _condition(name: str) -> Fields:
    """A comparison by its name in formulas: GE, GE_INT, GE_UINT."""
    condition, _, kind = name.partition("_")
    return {**_accepting(*_CONDITIONS[condition]), "type": _TYPES[kind]}


_SUM = {"rhs": Rhs.OPERAND_1, "if_false": Source.SUM}
_PRODUCT = {"lhs": Lhs.PRODUCT, "rhs": Rhs.MINUS_ZERO, "if_false": Source.SUM}
_LENIENT = {"zero_times_anything": 1}
_LHS, _SHARED_LHS = {"if_false": Source.LHS}, {"lhs": Lhs.SHARED, "if_false": Source.LHS}
_SHARED_SUM = {"shares_sum": 1, "if_false": Source.SUM}
_POST_MULTIPLIED = {"if_false": Source.POST_MULTIPLIED}
_CHOICE = {"rhs": Rhs.OPERAND_1, "if_true": Source.LHS, "if_false": Source.RHS}

_FORMULAS: Mapping[str, Fields] = {
    "ADD": _SUM,
    "MUL": {**_PRODUCT, **_LENIENT},
    "MUL_IEEE": _PRODUCT,
    # MAX and MIN give operand 1 if there is a NaN, the others only if operand 0 is one.
    "MAX": {**_CHOICE, **_accepting("greater", "equal")},
    "MIN": {**_CHOICE, **_accepting("less")},
    "MAX_DX10": {**_CHOICE, **_accepting("greater", "equal", "second_nan")},
    "MIN_DX10": {**_CHOICE, **_accepting("less", "second_nan")},
    "FRACT": {"rhs": Rhs.FRACTION, "sum": Sum.FRACTION, "if_false": Source.SUM},
    **{
        name: {"rhs": Rhs.INTEGRAL, "sum": Sum[name], "if_false": Source.SUM}
        for name in ("TRUNC", "CEIL", "RNDNE", "FLOOR")
    },
    "MOV": _LHS,
    "ZERO": {"if_false": Source.ZERO},
    "DOT4": {**_SHARED_SUM, **_LENIENT},
    "DOT4_IEEE": _SHARED_SUM,
    "CUBE": {"lhs": Lhs.SHARED, "rhs": Rhs.MINUS_ZERO, "cube": 1, "if_false": Source.SUM},
    "MAX4": _SHARED_LHS,
    "INV": {
        **_accepting("equal"), "rhs": Rhs.ONE, "if_true": Source.ZERO, "if_false": Source.LHS, "inverts": 1,
    },
    # The operand is subtracted; the counter is used up if the sum is 0 or less.
    "POP": {**_SUM, "pops": 1},
    "CLR": {"rhs": Rhs.LARGEST, "if_false": Source.RHS},
    "RESTORE": {
        **_accepting("equal"), "test": Test.FIRST, "if_true": Source.ZERO, "if_false": Source.LHS,
    },
    **{
        f"{operation.name}_INT": {"lhs": Lhs.INTEGER, "integer": operation, "if_false": Source.LHS}
        for operation in IntegerOperation
    },
    **{
        f"{name}_{kind}": {**_CHOICE, **_accepting(*accepted), "type": _TYPES[kind]}
        for name, accepted in (("MAX", ("greater", "equal")), ("MIN", ("less",)))
        for kind in ("INT", "UINT")
    },
    **{
        f"{name}_{kind}": {**_POST_MULTIPLIED, "type": _TYPES[kind], "trans": trans}
        for name, trans in (
            ("MULLO", {"post_multiply": PostMultiply.LOW_PRODUCT}),
            ("MULHI", {"post_multiply": PostMultiply.HIGH_PRODUCT}),
            ("RECIP", {"post_multiply": PostMultiply.RECIPROCAL, "function": Function.RCP}),
        )
        for kind in ("INT", "UINT")
    },
    **{f"FLT_TO_{kind}": {**_SHARED_LHS, "type": _TYPES[kind]} for kind in ("INT", "UINT")},
    **{f"{kind}_TO_FLT": {**_SHARED_SUM, "type": _TYPES[kind], "trans": {"converts": 1}} for kind in ("INT", "UINT")},
    "SQRT_IEEE": {**_POST_MULTIPLIED, "trans": {"function": Function.RSQ, "post_multiply": PostMultiply.ROOT}},
    "SIN": {**_SHARED_SUM, "trans": {"function": Function.SIN}},
    "COS": {**_SHARED_SUM, "trans": {"function": Function.COS}},
}  # fmt: skip
"""By formula; functions with suffixes, comparisons and formulas of three operands are generated below."""

_FUNCTIONS = {"EXP": Function.EX2, "LOG": Function.LN2, "RECIP": Function.RCP, "RECIPSQRT": Function.RSQ}
_LIMITS = {"IEEE": Limit.NONE, "CLAMPED": Limit.LARGEST, "FF": Limit.ZERO}
_ROUNDINGS = {"MOVA": Sum.UP, "MOVA_FLOOR": Sum.FLOOR}


def _families(operation: Operation) -> Iterator[tuple[bool, Any]]:
    """(whether the operation is of a family, the function that gives its fields)."""
    name, _, suffix = operation.formula.partition("_")
    yield operation.sets_address, lambda: _address(operation)
    yield operation.formula in _FORMULAS, lambda: _FORMULAS[operation.formula]
    yield name in _FUNCTIONS, lambda: {
        **_SHARED_SUM, "trans": {"function": _FUNCTIONS[name], "limit": _LIMITS[suffix]},
    }  # fmt: skip
    yield name == "PUSH", lambda: _push(suffix)
    yield name.startswith("CND"), lambda: _selection(operation.formula)
    yield operation.formula.startswith("MUL"), lambda: _multiplication(operation.formula)
    yield name in _CONDITIONS, lambda: _comparison(operation)


def _address(operation: Operation) -> Fields:
    """The result is the operand; the index follows from its rounded sum, or from the operand as an integer."""
    if operation.result is Result.INTEGER:
        return {**_LHS, "type": Type.SIGNED}
    return {**_LHS, "rhs": Rhs.INTEGRAL, "sum": _ROUNDINGS[operation.name]}


def _push(condition: str) -> Fields:
    return {
        **_condition(condition), "test": Test.SECOND, "rhs": Rhs.ONE,
        "if_true": Source.ZERO, "if_false": Source.SUM,
    }  # fmt: skip


def _selection(formula: str) -> Fields:
    condition = _condition(formula.removeprefix("CND"))
    words = {"lhs": Lhs.OPERAND_1, "rhs": Rhs.OPERAND_2, "if_true": Source.LHS, "if_false": Source.RHS}
    return {**condition, **words, "test": Test.FIRST}


def _multiplication(formula: str) -> Fields:
    """MUL_LIT and MULADD with their scales, which are the suffix of the formula."""
    stem, _, scale = formula.rpartition("_")
    stem, scale = (stem, scale) if scale in _SCALES else (formula, "")
    scaled = {"scale": _SCALES[scale]}
    if stem == "MUL_LIT":
        return {**_PRODUCT, **_LENIENT, **scaled, **_accepting("equal"), "test": Test.LIT, "if_true": Source.LOWEST}
    rules = {} if stem.endswith("IEEE") else _LENIENT
    return {**_PRODUCT, **rules, **scaled, "rhs": Rhs.OPERAND_2}


def _comparison(operation: Operation) -> Fields:
    """SET, KILL and PRED_SET of one comparison."""
    holds, fails = Source.ONE, Source.ZERO
    if operation.sets_predicate:
        holds, fails = fails, holds
    elif operation.result is Result.MASK:
        holds = Source.ONES
    return {**_condition(operation.formula), "rhs": Rhs.OPERAND_1, "if_true": holds, "if_false": fails}


def control(operation: Operation) -> Fields:
    """Fields of the operation's SlotControl without modifiers."""
    fields = next(make() for belongs, make in _families(operation) if belongs)
    return {**fields, "sets_predicate": int(operation.sets_predicate), "kills": int(operation.kills)}


def facts(operation: Operation) -> Fields:
    """Fields of the operation's OperationFacts."""
    return {
        "is_legal": 1,
        "operands": operation.operands,
        "vector_only": int(operation.slots is Slots.VECTOR),
        "trans_only": int(operation.slots is Slots.TRANS),
        "is_reduction": int(operation.is_reduction),
        "takes_modifiers": int(operation.result is Result.FLOAT),
        "sets_predicate": int(operation.sets_predicate),
        "kills": int(operation.kills),
        "sets_address": int(operation.sets_address),
    }
