"""Operations of the transcendental unit, and those made from them. Results have the machine's NaN."""

from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.vector.lanes import MAGNITUDE, SIGN, Value
from ctm.sim.engines.fast.vector.selection import canonical, flushed

_INFINITY, _LARGEST, _ZERO = 0x7F80_0000, 0x7F7F_FFFF, 0
"""Words."""


def _operation(name: str) -> Formula:
    def formula(unit: Unit, a: Value) -> Value:
        return unit.lanes.words(unit.transcendental.apply(name, unit.lanes.as_floats(a)))

    return formula


def _without_infinities(name: str, replacement: int) -> Formula:
    """An operation with the word `replacement`, with an infinity's sign, for it."""

    def formula(unit: Unit, a: Value) -> Value:
        lanes, builder, result = unit.lanes, unit.lanes.builder, _operation(name)(unit, a)
        magnitude = builder.and_(result, lanes.integer(MAGNITUDE))
        is_infinite = builder.icmp_unsigned("==", magnitude, lanes.integer(_INFINITY))
        signed = builder.or_(builder.and_(result, lanes.integer(SIGN)), lanes.integer(replacement))
        return lanes.choose(is_infinite, signed, result)

    return formula


def _root(unit: Unit, a: Value) -> Value:
    """X / sqrt(x) as a rounded product; zeros and +infinity are their own roots."""
    lanes, builder = unit.lanes, unit.lanes.builder
    x = flushed(lanes, lanes.as_floats(a))
    product = canonical(lanes, builder.fmul(x, unit.transcendental.apply("RSQ", x)))
    is_zero = lanes.compare("==", x, lanes.single(0))
    is_infinite = builder.icmp_unsigned("==", lanes.words(x), lanes.integer(_INFINITY))
    return lanes.words(lanes.choose(builder.or_(is_zero, is_infinite), x, product))


VALUES: dict[str, Formula] = {
    "EXP_IEEE": _operation("EX2"),
    "LOG_IEEE": _operation("LN2"),
    "LOG_CLAMPED": _without_infinities("LN2", _LARGEST),
    "RECIP_IEEE": _operation("RCP"),
    "RECIP_CLAMPED": _without_infinities("RCP", _LARGEST),
    "RECIP_FF": _without_infinities("RCP", _ZERO),
    "RECIPSQRT_IEEE": _operation("RSQ"),
    "RECIPSQRT_CLAMPED": _without_infinities("RSQ", _LARGEST),
    "RECIPSQRT_FF": _without_infinities("RSQ", _ZERO),
    "SQRT_IEEE": _root,
    "SIN": _operation("SIN"),
    "COS": _operation("COS"),
}
