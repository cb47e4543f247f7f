"""Comparisons, as the SET, PRED_SET and KILL operations have them in their names."""

from collections.abc import Callable, Mapping

from ctm.sim.engines.fast.r700.formulas.kinds import Unit
from ctm.sim.engines.fast.vector.lanes import Value

Comparison = Callable[[Unit, Value, Value], Value]
"""f(unit, a, b): a vector of bits, 1 in the lanes in which the condition holds of a and b."""

CONDITIONS: Mapping[str, str] = {"E": "==", "GT": ">", "GE": ">=", "NE": "!=", "LT": "<", "LE": "<="}
ORDINARY = ("E", "GT", "GE", "NE")
"""Conditions of all but the push operations."""


def of_floats(condition: str) -> Comparison:
    """A comparison of floats: denormals are zeros, and of a NaN only != holds."""

    def holds(unit: Unit, a: Value, b: Value) -> Value:
        lanes = unit.lanes
        return lanes.compare(condition, lanes.as_floats(a), lanes.as_floats(b))

    return holds


def of_signed(condition: str) -> Comparison:
    """A comparison of signed integers."""

    def holds(unit: Unit, a: Value, b: Value) -> Value:
        return unit.lanes.builder.icmp_signed(condition, a, b)

    return holds


def of_unsigned(condition: str) -> Comparison:
    """A comparison of unsigned integers."""

    def holds(unit: Unit, a: Value, b: Value) -> Value:
        return unit.lanes.builder.icmp_unsigned(condition, a, b)

    return holds


OF_FLOATS = {name: of_floats(CONDITIONS[name]) for name in ORDINARY}
"""By condition."""
OF_INTEGERS = {f"{name}_INT": of_signed(CONDITIONS[name]) for name in ORDINARY} | {
    f"{name}_UINT": of_unsigned(CONDITIONS[name]) for name in ("GT", "GE")
}
"""By condition and type."""
