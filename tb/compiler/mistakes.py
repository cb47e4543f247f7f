"""Mistakes of the compiler of kernels in C, each of a kind that was there once; a random kernel has to find each."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ctm.sim.compiler import clang
from ctm.sim.compiler.r5xx import functions, selection, values
from ctm.sim.compiler.r5xx.comparisons import compared, extreme
from ctm.sim.compiler.r5xx.integers import bits, casts, floats, ordering
from ctm.sim.compiler.r5xx.integers.building import Builder
from ctm.sim.compiler.r700 import compiler as r700_compiler
from ctm.sim.compiler.r700.compiler import FRONTS

Plant = Callable[[pytest.MonkeyPatch], None]


def _replaced(owner: object, name: str, value: object) -> Plant:
    return lambda patch: patch.setattr(owner, name, value)


def _in(table: dict[str, Any], name: str, value: object) -> Plant:
    return lambda patch: patch.setitem(table, name, value)


def _without_sign(to: Builder) -> bool:
    to.new.replaced = replace(to.instruction, text=to.instruction.text.replace("sext", "zext"))
    return casts.widening(to)


def _unordered(to: Any, kind: str, *operands: Any, **flags: Any) -> Any:
    return compared(to, {"one": "une", "ueq": "oeq"}.get(kind, kind), *operands, **flags)


def _turned(*operands: Any) -> Any:
    found = extreme(*operands)
    return found and (found[0], found[2], found[1])


def _with_sign(to: Builder) -> bool:
    text = to.instruction.text.replace("lshr", "ashr")
    to.new.replaced = replace(to.instruction, text=text)
    return bits.shift(to)


_fraction = values.Values.fraction
MISTAKES: dict[str, tuple[str, Plant]] = {
    "comparisons without sign have one": ("r5xx", _replaced(
        ordering, "_unsigned", lambda to, text, value, against: value
    )),
    "a truth of -1 is 1": ("r5xx", _in(floats._HANDLERS, "sext", _without_sign)),
    "NaN is less or greater": ("r5xx", _replaced(selection, "compared", _unordered)),
    "floor of infinity is NaN": ("r5xx", _replaced(
        values.Values, "fraction", lambda self, value, *, is_ordinary: _fraction(self, value, is_ordinary=True)
    )),
    "the other operand where one is NaN": ("r5xx", _replaced(selection, "extreme", _turned)),
    "equal infinities differ": ("r5xx", _replaced(
        values.Values, "equality", lambda self, left, right: self.new("ADD", left, -right)
    )),
    "masks have no holes": ("r5xx", _replaced(
        bits, "runs", lambda mask: [(0, mask.bit_length())] if mask > 0 else [(0, None)]
    )),
    "shifts without sign have one": ("r5xx", _in(floats._HANDLERS, "lshr", _with_sign)),
    "infinities are normal": ("r5xx", _in(functions._LIMITS, "normal", (0.0, math.inf))),
    "products do not wrap": ("r700", _replaced(clang, "_C", tuple(flag for flag in clang._C if flag != "-fwrapv"))),
    "checksums have tables": ("r700", _replaced(r700_compiler, "FRONTS", tuple(
        tuple(flag for flag in flags if flag != "-disable-loop-idiom-all") for flags in FRONTS
    ))),
    "tables stay tables": ("r700", _replaced(r700_compiler, "with_tables", lambda module: module)),
}  # fmt: skip
"""By what is wrong then: the instruction set, and what plants it."""
