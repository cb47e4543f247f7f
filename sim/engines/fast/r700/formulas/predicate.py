"""Operations that give a condition besides their result: predicates and kills."""

from ctm.sim.engines.fast.r700.formulas.comparison import (
    CONDITIONS,
    OF_FLOATS,
    OF_INTEGERS,
    ORDINARY,
    Comparison,
    of_floats,
    of_signed,
)
from ctm.sim.engines.fast.r700.formulas.kinds import Predicate, Unit
from ctm.sim.engines.fast.vector.lanes import SIGN, Value
from ctm.sim.engines.fast.vector.selection import canonical, flushed

_LARGEST = 2.0**128 - 2.0**104


def _set(comparison: Comparison) -> Predicate:
    def predicate(unit: Unit, a: Value, b: Value) -> tuple[Value, Value]:
        holds = comparison(unit, a, b)
        return unit.bits(unit.lanes.builder.not_(holds), 1.0), holds

    return predicate


def _kill(comparison: Comparison) -> Predicate:
    def predicate(unit: Unit, a: Value, b: Value) -> tuple[Value, Value]:
        holds = comparison(unit, a, b)
        return unit.bits(holds, 1.0), holds

    return predicate


# Counters say how many tests a pixel has failed since it last was active: 0.0 is an active one.


def _push(comparison: Comparison) -> Predicate:
    """0.0 if the counter is 0.0 and `tested` fulfils the condition against 0, else the counter plus 1.0."""

    def predicate(unit: Unit, counter: Value, tested: Value) -> tuple[Value, Value]:
        lanes, builder = unit.lanes, unit.lanes.builder
        number = lanes.as_floats(counter)
        is_active = lanes.compare("==", number, lanes.single(0))
        holds = builder.and_(comparison(unit, tested, lanes.none), is_active)
        return _cleared(unit, _sum(unit, number, lanes.single(1)), holds), holds

    return predicate


def _pop(unit: Unit, counter: Value, amount: Value) -> tuple[Value, Value]:
    """The counter less `amount`, but not below 0.0."""
    lanes = unit.lanes
    less = lanes.as_floats(lanes.builder.xor(amount, lanes.integer(SIGN)))
    result = _sum(unit, lanes.as_floats(counter), less)
    holds = lanes.builder.fcmp_ordered("<=", lanes.as_floats(result), lanes.single(0))
    return _cleared(unit, result, holds), holds


def _invert(unit: Unit, counter: Value) -> tuple[Value, Value]:
    """0.0 becomes 1.0 and 1.0 becomes 0.0."""
    lanes, builder = unit.lanes, unit.lanes.builder
    number = flushed(lanes, lanes.as_floats(counter))
    words, one = lanes.words(number), lanes.words(lanes.single(1))
    holds = builder.icmp_unsigned("==", words, one)
    is_zero = lanes.compare("==", number, lanes.single(0))
    return lanes.choose(is_zero, one, _cleared(unit, words, holds)), holds


def _restore(unit: Unit, counter: Value) -> tuple[Value, Value]:
    """The counter, which is tested for 0.0."""
    lanes = unit.lanes
    holds = lanes.compare("==", lanes.as_floats(counter), lanes.single(0))
    return _cleared(unit, counter, holds), holds


def _clear(unit: Unit) -> tuple[Value, Value]:
    """A counter that no pop brings to 0.0."""
    lanes = unit.lanes
    return lanes.words(lanes.single(_LARGEST)), lanes.builder.trunc(lanes.none, lanes.bits)


def _sum(unit: Unit, a: Value, b: Value) -> Value:
    lanes = unit.lanes
    return lanes.words(canonical(lanes, lanes.builder.fadd(lanes.fenced(a), lanes.fenced(b))))


def _cleared(unit: Unit, words: Value, where: Value) -> Value:
    return unit.lanes.choose(where, unit.lanes.none, words)


PREDICATES: dict[str, Predicate] = {
    "PRED_SET_INV": _invert,
    "PRED_SET_POP": _pop,
    "PRED_SET_CLR": _clear,
    "PRED_SET_RESTORE": _restore,
}
PREDICATES |= {f"PRED_SET{name}_PUSH": _push(of_floats(CONDITIONS[name])) for name in ORDINARY}
PREDICATES |= {f"PRED_SET{name}_PUSH_INT": _push(of_signed(condition)) for name, condition in CONDITIONS.items()}
PREDICATES |= {f"PRED_SET{name}": _set(comparison) for name, comparison in (OF_FLOATS | OF_INTEGERS).items()}
PREDICATES |= {f"KILL{name}": _kill(comparison) for name, comparison in (OF_FLOATS | OF_INTEGERS).items()}
