"""Sums and products of floats, each operation rounded by itself, and rounding to integral values."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import LARGEST, Floats
from ctm.sim.golden.r700.formulas.comparison import flushed
from ctm.sim.golden.r700.formulas.kinds import Value
from ctm.sim.golden.r700.formulas.modifiers import OUTPUT_MODIFIERS

_SCALES = {"": 0, "_M2": 1, "_M4": 2, "_D2": 3}
"""Output modifiers that belong to operations with three operands, which have no other."""
_MINUS_LARGEST = np.full(1, -LARGEST, np.float32)


def _multiply(zero_times_anything: bool) -> Value:
    def value(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
        return fp.multiply(a, b, zero_times_anything=zero_times_anything, clean=clean)

    return value


def _multiply_add(a: Floats, b: Floats, c: Floats, *, clean: bool = False) -> Floats:
    return fp.multiply_then_add(a, b, c, zero_times_anything=True, clean=clean)


def _multiply_add_ieee(a: Floats, b: Floats, c: Floats, *, clean: bool = False) -> Floats:
    return fp.multiply_then_add(a, b, c, zero_times_anything=False, clean=clean)


def _multiply_lit(a: Floats, b: Floats, c: Floats, *, clean: bool = False) -> Floats:
    """A * b, but -LARGEST unless c > 0 and b is a number above it."""
    a, b, c = flushed(a, clean), flushed(b, clean), flushed(c, clean)
    product = fp.multiply(a, b, zero_times_anything=True, clean=True)
    return fp.choose((b > -LARGEST) & (c > 0), product, _MINUS_LARGEST)


def _scaled(formula: Value, modifier: int) -> Value:
    """The result of `formula` times a power of two."""
    code = OUTPUT_MODIFIERS[modifier]

    def value(a: Floats, b: Floats, c: Floats, *, clean: bool = False) -> Floats:
        result = formula(a, b, c, clean=clean)
        return fp.output_modifier(result, code, clean=True, out=result)

    return value if modifier else formula


VALUES: dict[str, Value] = {
    "ADD": fp.add,
    "MUL": _multiply(zero_times_anything=True),
    "MUL_IEEE": _multiply(zero_times_anything=False),
    "FRACT": fp.fraction,
    "TRUNC": fp.trunc,
    "CEIL": fp.ceil,
    "RNDNE": fp.rint,
    "FLOOR": fp.floor,
}
VALUES |= {
    name + suffix: _scaled(formula, modifier)
    for name, formula in (("MULADD", _multiply_add), ("MULADD_IEEE", _multiply_add_ieee), ("MUL_LIT", _multiply_lit))
    for suffix, modifier in _SCALES.items()
}
