"""Mistakes of the translation of Python, each of a kind that was there once; a random kernel has to find each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctm.sim.compiler.python import (
    calls,
    expressions,
    parameters,
    powers,
    signedness,
    translation,
    values,
    variables,
)
from ctm.sim.compiler.python.body import Body
from ctm.sim.compiler.python.expressions import Expressions
from ctm.sim.compiler.python.scope import Definition
from ctm.sim.compiler.python.values import BOOL, FLOAT, INT, UINT, Items, Value, converted
from ctm.sim.compiler.python.variables import Variables
from ctm.sim.compiler.source import Source
from ctm.sim.kernels import interpretation

Plant = Callable[[pytest.MonkeyPatch], None]
_SMALLEST_INT = -(1 << 31)
_MOST_FACTORS = 4


def _replaced(owner: object, name: str, value: object) -> Plant:
    return lambda patch: patch.setattr(owner, name, value)


def _computed(renamed: dict[str, str], functions: str) -> Plant:
    """Other functions of C for operators and calls that give a float."""

    def other(found: Any) -> Any:
        is_float = isinstance(found, Value) and found.type == FLOAT and found.constant is None
        name, bracket, arguments = found.text.partition("(") if is_float else ("", "", "")
        return replace(found, text=f"{renamed[name]}({arguments}") if name in renamed and bracket else found

    def plant(patch: pytest.MonkeyPatch) -> None:
        combined, extreme = Expressions.combined, signedness.extreme
        patch.setattr(Expressions, "combined", lambda *given: other(combined(*given)))
        patch.setattr(calls, "extreme", lambda *given: other(extreme(*given)))
        patch.setattr(translation, "Source", lambda text, file: Source(text.replace("\n", f"\n{functions}\n", 1), file))

    return plant


_known, _apart, _c_name, _kept = values.known, Body.apart, variables.c_name, Variables.kept
_translate, _power, _defaults = Body.translate, powers._known, Definition.defaults


def _smallest_without_sign(number: Any) -> Value:
    return Value("2147483648u", UINT, -_SMALLEST_INT) if number == _SMALLEST_INT else _known(number)


def _smallest(patch: pytest.MonkeyPatch) -> None:
    for module in (values, expressions, signedness, powers, calls):
        patch.setattr(module, "known", _smallest_without_sign)


def _logarithmic(base: Value, exponent: Any, new_name: Any) -> Value:
    if isinstance(exponent, int) and 0 <= exponent <= _MOST_FACTORS:
        return _power(base, exponent, new_name)
    text = f"exp2({_known(float(exponent)).text} * log2({converted(base, FLOAT)}))"
    return Value(text if base.type == FLOAT else f"({base.type.c})({text})", base.type)


def _without_sign(name: str, kind: Any, one: Value, two: Value) -> Value:
    return Value(f"{name}({converted(one, kind)}, {converted(two, kind)})", kind)


def _from_the_right(patch: pytest.MonkeyPatch) -> None:
    for function in (min, max):
        make = calls._FUNCTIONS[function]

        def turned(given: list[Value], make: Any = make) -> Any:
            return make([given[0], turned(given[1:])]) if given[1:] else given[0]

        patch.setitem(calls._FUNCTIONS, function, turned)


def _fraction_is_false(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(calls._FUNCTIONS, bool, lambda given: Value(f"({converted(given[0], INT)} != 0)", BOOL))


def _without_drops(self: Body) -> None:
    _translate(self)
    self.drops = False


def _compared(operation: Any, left: Value, right: Value) -> str:
    kind = values.widest([left.type, right.type])
    assert kind is not None
    return f"{converted(left, kind)} {signedness.COMPARISONS[type(operation)]} {converted(right, kind)}"


def _compare(self: Expressions, node: Any, found: Any = Expressions._compare) -> Value:
    value = found(self, node)
    return replace(value, text=f"(-{value.text})")


MISTAKES: dict[str, tuple[str, Plant]] = {
    "a tuple is overwritten before it is read": ("r5xx", _replaced(
        Variables, "kept", lambda self, found: found if isinstance(found, Items) else _kept(self, found)
    )),
    "known powers are by logarithms": ("r5xx", _replaced(powers, "_known", _logarithmic)),
    "min and max of an int and a uint have no sign": ("r700", _replaced(calls, "extreme", _without_sign)),
    "an int is compared as a uint": ("r700", _replaced(expressions, "comparison", _compared)),
    "the smallest int has no sign": ("r700", _smallest),
    "a dropped pixel goes on": ("r700", _replaced(Body, "translate", _without_drops)),
    "operands are computed before the condition": ("r700", _replaced(Body, "apart", lambda self, make: make())),
    "one correction of a quotient": ("r700", _computed({"ctm_quotient": "planted"}, (
        "static float planted(float a, float b) { float q = floor(a / b), r = a - q * b; "
        "return r * b < 0 ? q - 1 : (b < 0 ? r <= b : r >= b) ? q + 1 : q; }"
    ))),
    "remainders of tiny numbers are negative": ("r700", _computed({"ctm_remainder": "planted"}, (
        "static float planted(float a, float b) { return a < 0 && a > -1e-9f ? a : ctm_remainder(a, b); }"
    ))),
    "the number where one is NaN": ("r5xx", _computed({"min": "lesser", "max": "greater"}, (
        "static float lesser(float a, float b) { return a == a && !(b < a) ? a : b; } "
        "static float greater(float a, float b) { return a == a && !(b > a) ? a : b; }"
    ))),
    "extremes of several from the right": ("r5xx", _from_the_right),
    "names are those of C": ("r5xx", _replaced(variables, "c_name", lambda name: _c_name(name)[2:])),
    "letters beyond ASCII are one": ("r5xx", _replaced(
        variables, "c_name", lambda name: _c_name("".join(each if each.isascii() else "_" for each in name))
    )),
    "the pixel has a name of users": ("r5xx", _replaced(parameters, "_PIXEL", "v_pixel")),
    "arguments have names of users": ("r5xx", _replaced(parameters, "_ARGUMENT", "v_argument")),
    "shifts are those of C": ("r700", _replaced(
        expressions, "_shifted", lambda symbol, text, kind, count: f"({text} {symbol} ({count.text}))"
    )),
    "results in plain Python are cut": ("r5xx", _replaced(
        interpretation, "_stored", lambda kind, value: [np.trunc(each) for each in interpretation._components(value)]
    )),
    "a truth is -1": ("r700", _replaced(Expressions, "_compare", _compare)),
    "a fraction is false": ("r5xx", _fraction_is_false),
    "default values are turned": ("r5xx", _replaced(Definition, "defaults", lambda self: _defaults(self)[::-1])),
}  # fmt: skip
"""By what is wrong then: the instruction set, and what plants it."""
