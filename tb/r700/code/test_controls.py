"""What operations make a slot do: followed by hand, it gives what the table of operations says of each.

Selections, comparisons and counters are followed word by word; of arithmetic it is seen which rules it has.
"""

import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from ctm.rtl.fp.reduction import Function
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation
from ctm.rtl.r700.border.lane import Lhs, Limit, Rhs, Source, Sum, Test, Type
from ctm.rtl.r700.code.controls import control

ZERO, ONE, ONES, LARGEST, NAN = 0, 0x3F800000, 0xFFFFFFFF, 0x7F7FFFFF, 0x7FC00000
WORDS = (
    ZERO, 0x80000000, ONE, 0xBF800000, 0x40000000, LARGEST, 0x7F800000, 0xFF800000, NAN, 0xFFC00001, 1, 0x80000001,
    ONES,
)  # fmt: skip
"""Zeros, numbers, infinities, NaNs and denormals; small and negative integers are among them."""
FINITE = (ZERO, 0x80000000, ONE, 0xBF800000, 0x40000000, 0x40400000)
CONDITIONS: dict[str, Callable[[Any, Any], bool]] = {
    "E": operator.eq, "NE": operator.ne, "GT": operator.gt, "GE": operator.ge, "LT": operator.lt, "LE": operator.le,
}  # fmt: skip
Result = tuple[int, bool]
"""A word, and whether the predicate is set or the pixel killed."""


def number(word: int, kind: str) -> Any:
    """A word as a float, whose denormals are zeros, or as an integer."""
    if kind == "UINT":
        return word
    if kind == "INT":
        return word - (1 << 32) * (word >> 31)
    return 0.0 if word & 0x7F800000 == 0 else float(np.uint32(word).view(np.float32))


def added(first: int, second: int) -> int:
    """A sum of numbers whose sum is one."""
    total = np.uint32(first).view(np.float32) + np.uint32(second).view(np.float32)
    return int(total.view(np.uint32))


def compared(name: str, kind: str, first: int, second: int) -> bool:
    """Whether a condition holds."""
    return CONDITIONS[name](number(first, kind), number(second, kind))


def extreme(name: str, a: int, b: int) -> int:
    """MAX and MIN with their suffixes."""
    stem, _, suffix = name.partition("_")
    if suffix == "DX10":
        nans = [np.isnan(number(word, "")) for word in (a, b)]
        if any(nans):
            return b if nans[0] else a
        suffix = ""
    return a if compared("GE" if stem == "MAX" else "LT", suffix, a, b) else b


def counted(name: str, a: int, b: int) -> Result:
    """PRED_SETs that count."""
    if name.startswith("INV"):
        return (ZERO, True) if number(a, "") == 1 else (ONE if number(a, "") == 0 else a, False)
    if name.startswith("POP"):
        lhs = added(a, b ^ 0x80000000)
        return (ZERO, True) if number(lhs, "") <= 0 else (lhs, False)
    if name.startswith("CLR"):
        return LARGEST, False
    if name.startswith("RESTORE"):
        return (ZERO, True) if number(a, "") == 0 else (a, False)
    condition, _, kind = name.partition("_PUSH")
    holds = compared(condition, kind.removeprefix("_"), b, ZERO) and number(a, "") == 0
    return (ZERO, True) if holds else (added(a, ONE), False)


def expected(name: str, a: int, b: int, c: int) -> Result:
    """What the table says of an operation's result."""
    if name.startswith(("MAX", "MIN")):
        return extreme(name, a, b), False
    if name.startswith("CND"):
        condition, _, kind = name.removeprefix("CND").partition("_")
        return b if compared(condition, kind, a, ZERO) else c, False
    condition_text = name.removeprefix("PRED_").removeprefix("SET").removeprefix("KILL").removeprefix("_")
    condition, _, kind = condition_text.partition("_")
    if name.startswith("PRED") and (condition not in CONDITIONS or "PUSH" in kind):
        return counted(condition_text, a, b)
    holds = compared(condition, kind.removeprefix("DX10"), a, b)
    if name.startswith("PRED"):
        return (ZERO if holds else ONE), holds
    if name.startswith("KILL"):
        return (ONE if holds else ZERO), holds
    return (ONES if kind else ONE) * holds, False


def followed(operation: Operation, a: int, b: int, c: int) -> Result:
    """What a slot does with three words."""
    does = control(operation)
    kind = {Type.FLOAT: "", Type.SIGNED: "INT", Type.UNSIGNED: "UINT"}[does.get("type", Type.FLOAT)]
    lhs = {Lhs.OPERAND_0: a, Lhs.OPERAND_1: b}[does.get("lhs", Lhs.OPERAND_0)]
    rhs = {
        Rhs.OPERAND_1: b, Rhs.OPERAND_2: c, Rhs.ONE: ONE, Rhs.LARGEST: LARGEST, Rhs.MINUS_ZERO: 0x80000000,
    }[does.get("rhs", Rhs.OPERAND_1)]  # fmt: skip
    if does.get("pops"):
        rhs ^= 0x80000000
    test = does.get("test", Test.COMPARE)
    pair = {Test.COMPARE: (lhs, rhs), Test.FIRST: (a, ZERO), Test.SECOND: (b, ZERO)}[test]
    relation = related(number(pair[0], kind), number(pair[1], kind))
    holds = bool(does.get("accepts", {}).get(relation, 0)) and (test is not Test.SECOND or number(a, "") == 0)
    source = does.get("if_true" if holds else "if_false", Source.SUM)
    assert source is not Source.SUM or does.get("sum", Sum.ADDITION) is Sum.ADDITION
    word = {Source.LHS: lhs, Source.RHS: rhs, Source.ZERO: ZERO, Source.ONE: ONE, Source.ONES: ONES}.get(source)
    if word is None:
        word = added(lhs, rhs)
    if does.get("inverts") and not holds and number(a, "") == 0:
        word = ONE
    if does.get("pops") and number(word, "") <= 0:
        word, holds = ZERO, True
    return word, holds and bool(does["sets_predicate"] or does["kills"])


def related(first: Any, second: Any) -> str:
    """The relation of two numbers."""
    if first != first:
        return "first_nan"
    if second != second:
        return "second_nan"
    return "equal" if first == second else "less" if first < second else "greater"


def selections() -> Iterator[Operation]:
    """Operations that are followed."""
    starts = ("SET", "KILL", "PRED_SET", "CND", "MAX", "MIN")
    return (each for each in OPERATIONS.values() if each.name.startswith(starts) and not each.is_reduction)


def check_selections() -> None:
    """All words against all."""
    for operation in selections():
        adds = "PUSH" in operation.name or "POP" in operation.name
        words = FINITE if adds else WORDS
        third = words if operation.operands == 3 else (ZERO,)
        for a, b, c in product(words, words, third):
            found, wanted = followed(operation, a, b, c), expected(operation.name, a, b, c)
            assert found == wanted, f"{operation.name} of {a:08x}, {b:08x}, {c:08x}: {found}, not {wanted}"


def check_arithmetic() -> None:
    """Which products are lenient, what is scaled, and what functions give instead of infinities."""
    functions = {"EXP": Function.EX2, "LOG": Function.LN2, "RECIP": Function.RCP, "RECIPSQRT": Function.RSQ}
    limits = {"IEEE": Limit.NONE, "CLAMPED": Limit.LARGEST, "FF": Limit.ZERO}
    scales = {"M2": 1, "M4": 2, "D2": -1}
    for operation in OPERATIONS.values():
        does, (stem, _, suffix) = control(operation), operation.name.partition("_")
        lenient = stem in ("MUL", "MULADD", "DOT4") and suffix.removeprefix("LIT").strip("_") in ("", *scales)
        assert bool(does.get("zero_times_anything", 0)) == lenient, operation.name
        assert does.get("scale", 0) == scales.get(operation.name.rpartition("_")[2], 0), operation.name
        if stem in functions and suffix in limits:
            trans = does["trans"]
            assert (trans["function"], trans["limit"]) == (functions[stem], limits[suffix]), operation.name


def compare() -> None:
    """What the ordinary suite compares."""
    check_selections()
    check_arithmetic()


def test_controls_do_what_the_table_says() -> None:
    compare()


@pytest.mark.parametrize(("name", "words"), [("MAX", (NAN, ONE)), ("MAX_DX10", (NAN, ONE)), ("SETNE", (NAN, NAN))])
def test_a_nan_is_unlike_everything(name: str, words: tuple[int, int]) -> None:
    operation = next(each for each in OPERATIONS.values() if each.name == name)
    assert followed(operation, *words, ZERO)[0] == ONE
