"""Operations that give a condition besides their result: predicates and kills."""

from collections.abc import Callable
from functools import partial

from ctm.tb.golden import scalar
from ctm.tb.golden.r700.scalar.comparison import TESTS, holds, holds_signed, passes
from ctm.tb.golden.scalar.number import LARGEST, ONE, SIGN, ZERO

Outcome = tuple[int, bool]


def _set(name: str, s0: int, s1: int) -> Outcome:
    p = passes(name, s0, s1)
    return (ZERO if p else ONE), p


def _kill(name: str, s0: int, s1: int) -> Outcome:
    p = passes(name, s0, s1)
    return (ONE if p else ZERO), p


def invert(s0: int) -> Outcome:
    """PRED_SET_INV: 1.0 becomes 0.0, 0.0 becomes 1.0, other counters stay."""
    if holds("E", s0, ONE):
        return ZERO, True
    return (ONE if holds("E", s0, ZERO) else s0), False


def pop(s0: int, s1: int) -> Outcome:
    """PRED_SET_POP: the counter less s1, but not below 0.0."""
    difference = scalar.add(s0, s1 ^ SIGN)
    return (ZERO, True) if holds("LE", difference, ZERO) else (difference, False)


def restore(s0: int) -> Outcome:
    """PRED_SET_RESTORE: the counter."""
    return (ZERO, True) if holds("E", s0, ZERO) else (s0, False)


def _push(condition: str, s0: int, s1: int) -> Outcome:
    p = holds(condition, s1, ZERO) and holds("E", s0, ZERO)
    return (ZERO, True) if p else (scalar.add(s0, ONE), False)


def _push_integer(condition: str, s0: int, s1: int) -> Outcome:
    p = holds_signed(condition, s1, 0) and holds("E", s0, ZERO)
    return (ZERO, True) if p else (scalar.add(s0, ONE), False)


PREDICATES: dict[str, Callable[..., Outcome]] = {
    "PRED_SET_INV": invert,
    "PRED_SET_POP": pop,
    "PRED_SET_CLR": lambda: (LARGEST, False),
    "PRED_SET_RESTORE": restore,
}
for _name in TESTS:
    PREDICATES[f"PRED_SET{_name}"] = partial(_set, _name)
    PREDICATES[f"KILL{_name}"] = partial(_kill, _name)
for _condition in ("E", "GT", "GE", "NE"):
    PREDICATES[f"PRED_SET{_condition}_PUSH"] = partial(_push, _condition)
for _condition in ("E", "GT", "GE", "NE", "LT", "LE"):
    PREDICATES[f"PRED_SET{_condition}_PUSH_INT"] = partial(_push_integer, _condition)
