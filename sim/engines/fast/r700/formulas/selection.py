"""Operations that copy an operand, choose one, or tell whether a comparison holds."""

from ctm.sim.engines.fast.r700.formulas.comparison import CONDITIONS, OF_FLOATS, OF_INTEGERS, ORDINARY, Comparison
from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.vector.lanes import Value
from ctm.sim.engines.fast.vector.selection import compared


def _move(unit: Unit, a: Value) -> Value:
    return a


def _nothing(unit: Unit) -> Value:
    return unit.lanes.none


def maximum(unit: Unit, a: Value, b: Value) -> Value:
    """MAX: a >= b ? a : b, so `a` of two zeros and `b` if either is a NaN."""
    return unit.lanes.choose(unit.lanes.builder.fcmp_ordered(">=", *_floats(unit, a, b)), a, b)


def _minimum(unit: Unit, a: Value, b: Value) -> Value:
    """MIN: a < b ? a : b, so `b` of two zeros and if either is a NaN."""
    return unit.lanes.choose(unit.lanes.builder.fcmp_ordered("<", *_floats(unit, a, b)), a, b)


def _dx10(condition: str) -> Formula:
    """A choice by a condition. A NaN is chosen only if both operands are NaNs."""

    def formula(unit: Unit, a: Value, b: Value) -> Value:
        builder = unit.lanes.builder
        one, other = _floats(unit, a, b)
        chosen = builder.and_(builder.fcmp_unordered(condition, one, other), builder.fcmp_ordered("ord", one, one))
        return unit.lanes.choose(chosen, a, b)

    return formula


def _floats(unit: Unit, *operands: Value) -> list[Value]:
    """Operands as floats for a comparison, with which LLVM keeps denormals."""
    return [compared(unit.lanes, unit.lanes.as_floats(operand)) for operand in operands]


def _select(condition: str) -> Formula:
    def formula(unit: Unit, tested: Value, a: Value, b: Value) -> Value:
        lanes, (value,) = unit.lanes, _floats(unit, tested)
        return lanes.choose(lanes.builder.fcmp_ordered(condition, value, lanes.single(0)), a, b)

    return formula


def _select_integer(condition: str) -> Formula:
    def formula(unit: Unit, tested: Value, a: Value, b: Value) -> Value:
        lanes = unit.lanes
        return lanes.choose(lanes.builder.icmp_signed(condition, tested, lanes.none), a, b)

    return formula


def _number(comparison: Comparison) -> Formula:
    def formula(unit: Unit, a: Value, b: Value) -> Value:
        return unit.bits(comparison(unit, a, b), 1.0)

    return formula


def _ones(comparison: Comparison) -> Formula:
    def formula(unit: Unit, a: Value, b: Value) -> Value:
        return unit.lanes.mask(comparison(unit, a, b))

    return formula


VALUES: dict[str, Formula] = {
    "NOP": _nothing,
    "MOV": _move,
    "MOVA": _move,
    "MOVA_FLOOR": _move,
    "MOVA_INT": _move,
    "MAX": maximum,
    "MIN": _minimum,
    "MAX_DX10": _dx10(">="),
    "MIN_DX10": _dx10("<"),
}
VALUES |= {f"CND{name}": _select(CONDITIONS[name]) for name in ("E", "GT", "GE")}
VALUES |= {f"CND{name}_INT": _select_integer(CONDITIONS[name]) for name in ("E", "GT", "GE")}
VALUES |= {f"SET{name}": _number(OF_FLOATS[name]) for name in ORDINARY}
VALUES |= {f"SET{name}_DX10": _ones(OF_FLOATS[name]) for name in ORDINARY}
VALUES |= {f"SET{name}": _ones(comparison) for name, comparison in OF_INTEGERS.items()}
