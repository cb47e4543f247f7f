"""Conversions between floats and integers, and what the MOVA operations put into the address register."""

from ctm.rtl.isa.r700.limits import HIGHEST_INDEX, LOWEST_INDEX
from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.vector import conversion
from ctm.sim.engines.fast.vector.lanes import Value


def _to_int(unit: Unit, a: Value) -> Value:
    return conversion.truncated(unit.lanes, unit.lanes.as_floats(a), signed=True)


def _to_uint(unit: Unit, a: Value) -> Value:
    return conversion.truncated(unit.lanes, unit.lanes.as_floats(a), signed=False)


def _from_int(unit: Unit, a: Value) -> Value:
    return unit.lanes.words(unit.lanes.builder.sitofp(a, unit.lanes.floats))


def _from_uint(unit: Unit, a: Value) -> Value:
    return unit.lanes.words(unit.lanes.builder.uitofp(a, unit.lanes.floats))


def _nearest(unit: Unit, a: Value) -> Value:
    # The sum is inexact for a tiny number, where its floor is 0 all the same, and far beyond the range.
    lanes = unit.lanes
    total = lanes.builder.fadd(lanes.widen(lanes.as_floats(a)), lanes.double(0.5))
    return _saturated(unit, lanes.apply("floor", total))


def _floor(unit: Unit, a: Value) -> Value:
    lanes = unit.lanes
    return _saturated(unit, lanes.apply("floor", lanes.widen(lanes.as_floats(a))))


def _saturated(unit: Unit, value: Value) -> Value:
    """Integers of float64 that are integral, saturated to the range of indices; of a NaN 0."""
    lanes, builder = unit.lanes, unit.lanes.builder
    least, most = lanes.double(LOWEST_INDEX), lanes.double(HIGHEST_INDEX)
    value = lanes.choose(builder.fcmp_unordered("uno", value, value), lanes.double(0), value)
    value = lanes.choose(builder.fcmp_ordered(">", value, least), value, least)
    return builder.fptosi(lanes.choose(builder.fcmp_ordered("<", value, most), value, most), lanes.integers)


def _integer(unit: Unit, a: Value) -> Value:
    lanes = unit.lanes
    return lanes.apply("smax", lanes.apply("smin", a, lanes.integer(HIGHEST_INDEX)), lanes.integer(LOWEST_INDEX))


VALUES: dict[str, Formula] = {
    "FLT_TO_INT": _to_int,
    "FLT_TO_UINT": _to_uint,
    "INT_TO_FLT": _from_int,
    "UINT_TO_FLT": _from_uint,
}
INDICES: dict[str, Formula] = {
    "MOVA": _nearest,
    "MOVA_FLOOR": _floor,
    "MOVA_INT": _integer,
}
