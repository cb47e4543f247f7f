"""Operations on all four vector slots."""

from collections.abc import Sequence

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.engines.fast.r700.formulas.kinds import Reduction, Unit
from ctm.sim.engines.fast.r700.formulas.selection import maximum
from ctm.sim.engines.fast.vector import arithmetic
from ctm.sim.engines.fast.vector.lanes import SIGN, Value
from ctm.sim.engines.fast.vector.selection import canonical, flushed


def _dot(zero_times_anything: bool) -> Reduction:
    def reduction(unit: Unit, first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
        lanes = unit.lanes
        sides = [[lanes.as_floats(words) for words in side] for side in (first, second)]
        result = arithmetic.dot(lanes, *sides, zero_times_anything=zero_times_anything)
        return [lanes.words(result)] * CHANNELS

    return reduction


def _maximum_of_four(unit: Unit, first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
    x, y, z, w = first
    return [maximum(unit, maximum(unit, x, y), maximum(unit, z, w))] * CHANNELS


def _cube(unit: Unit, first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
    """Coordinates t and s on the face that a direction goes through, twice its largest component, the face's number.

    The operands are zzxy and yxzz of the direction, so the first ones have all of it.
    """
    lanes, builder = unit.lanes, unit.lanes.builder
    z, x, y = (flushed(lanes, lanes.as_floats(first[slot])) for slot in (0, 2, 3))
    large_z, large_x, large_y = (lanes.apply("fabs", value) for value in (z, x, y))
    on_z = builder.and_(builder.fcmp_ordered(">=", large_z, large_x), builder.fcmp_ordered(">=", large_z, large_y))
    on_y = builder.and_(builder.not_(on_z), builder.fcmp_ordered(">=", large_y, large_x))
    on_x = builder.not_(builder.or_(on_y, on_z))
    major = lanes.choose(on_z, z, lanes.choose(on_y, y, x))
    is_negative = builder.fcmp_ordered("<", major, lanes.single(0))
    t = _negated(unit, lanes.choose(on_y, z, y), builder.or_(builder.not_(on_y), is_negative))
    same = builder.not_(builder.xor(is_negative, on_z))
    s = _negated(unit, lanes.choose(on_x, z, x), builder.and_(builder.not_(on_y), same))
    twice = canonical(lanes, builder.fmul(major, lanes.single(2)))
    number = lanes.choose(on_z, lanes.integer(4), lanes.choose(on_y, lanes.integer(2), lanes.none))
    number = builder.add(number, builder.zext(is_negative, lanes.integers))
    return [lanes.words(value) for value in (t, s, twice, builder.sitofp(number, lanes.floats))]


def _negated(unit: Unit, value: Value, where: Value) -> Value:
    """A value with the other sign in some lanes, and the machine's NaN."""
    lanes = unit.lanes
    signs = lanes.choose(where, lanes.integer(SIGN), lanes.none)
    return canonical(lanes, lanes.as_floats(lanes.builder.xor(lanes.words(value), signs)))


REDUCTIONS: dict[str, Reduction] = {
    "DOT4": _dot(zero_times_anything=True),
    "DOT4_IEEE": _dot(zero_times_anything=False),
    "MAX4": _maximum_of_four,
    "CUBE": _cube,
}
DOTS = ("DOT4", "DOT4_IEEE")
"""Those whose results may have any NaN."""
