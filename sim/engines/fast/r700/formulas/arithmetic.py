"""Sums and products of floats, each operation rounded by itself, and rounding to integral values; NaNs are any."""

from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.vector import arithmetic
from ctm.sim.engines.fast.vector.lanes import Value

_SCALES = {"": 1.0, "_M2": 2.0, "_M4": 4.0, "_D2": 0.5}
_LARGEST = 2.0**128 - 2.0**104


def _add(unit: Unit, a: Value, b: Value) -> Value:
    lanes = unit.lanes
    return lanes.words(lanes.builder.fadd(lanes.as_floats(a), lanes.as_floats(b)))


def _product(zero_times_anything: bool) -> Formula:
    def formula(unit: Unit, a: Value, b: Value) -> Value:
        lanes = unit.lanes
        product = arithmetic.multiply(
            lanes, lanes.as_floats(a), lanes.as_floats(b), zero_times_anything=zero_times_anything
        )
        return lanes.words(product)

    return formula


_multiply = _product(zero_times_anything=True)
_multiply_ieee = _product(zero_times_anything=False)


def _multiply_add(unit: Unit, a: Value, b: Value, c: Value) -> Value:
    return _add(unit, _multiply(unit, a, b), c)


def _multiply_add_ieee(unit: Unit, a: Value, b: Value, c: Value) -> Value:
    return _add(unit, _multiply_ieee(unit, a, b), c)


def _multiply_lit(unit: Unit, a: Value, b: Value, c: Value) -> Value:
    """A * b, but -LARGEST unless c > 0 and b is a number above it."""
    lanes, builder = unit.lanes, unit.lanes.builder
    least = lanes.single(-_LARGEST)
    above = builder.fcmp_ordered(">", lanes.as_floats(b), least)
    positive = builder.fcmp_ordered(">", lanes.as_floats(c), lanes.single(0))
    return lanes.choose(builder.and_(above, positive), _multiply(unit, a, b), lanes.words(least))


def _scaled(formula: Formula, factor: float) -> Formula:
    """The result of `formula` times a power of two."""

    def scaled(unit: Unit, *operands: Value) -> Value:
        lanes, result = unit.lanes, formula(unit, *operands)
        return lanes.words(lanes.builder.fmul(lanes.as_floats(result), lanes.single(factor)))

    return formula if factor == 1 else scaled


def _rounded(name: str) -> Formula:
    def formula(unit: Unit, a: Value) -> Value:
        lanes = unit.lanes
        return lanes.words(lanes.apply(name, lanes.as_floats(a)))

    return formula


def _fraction(unit: Unit, a: Value) -> Value:
    return unit.lanes.words(arithmetic.fraction(unit.lanes, unit.lanes.as_floats(a)))


VALUES: dict[str, Formula] = {
    "ADD": _add,
    "MUL": _multiply,
    "MUL_IEEE": _multiply_ieee,
    "FRACT": _fraction,
    "TRUNC": _rounded("trunc"),
    "CEIL": _rounded("ceil"),
    "RNDNE": _rounded("rint"),
    "FLOOR": _rounded("floor"),
}
VALUES |= {
    name + suffix: _scaled(formula, factor)
    for name, formula in (("MULADD", _multiply_add), ("MULADD_IEEE", _multiply_add_ieee), ("MUL_LIT", _multiply_lit))
    for suffix, factor in _SCALES.items()
}
