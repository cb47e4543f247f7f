"""Operations that give a condition besides their result: predicates and kills."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import LARGEST, Floats, Mask
from ctm.sim.golden.r700.formulas.comparison import (
    CONDITIONS,
    OF_FLOATS,
    OF_INTEGERS,
    ORDINARY,
    Comparison,
    flushed,
)
from ctm.sim.golden.r700.formulas.kinds import Predicate

_ONE = np.ones(1, np.float32)


def _set(comparison: Comparison) -> Predicate:
    def predicate(a: Floats, b: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
        holds = comparison(a, b, clean)
        return (~holds).astype(np.float32), holds

    return predicate


def _kill(comparison: Comparison) -> Predicate:
    def predicate(a: Floats, b: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
        holds = comparison(a, b, clean)
        return holds.astype(np.float32), holds

    return predicate


# Counters say how many tests a pixel has failed since it last was active: 0.0 is an active one.


def _push(condition: np.ufunc, is_integer: bool) -> Predicate:
    """0.0 if the counter is 0.0 and `tested` fulfils the condition against 0, else the counter plus 1.0."""

    def predicate(counter: Floats, tested: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
        counter = flushed(counter, clean)
        number = tested.view(np.int32) if is_integer else flushed(tested, clean)
        holds: Mask = condition(number, 0) & (counter == 0)
        result = fp.add(counter, _ONE, clean=True)
        return _cleared(np.broadcast_to(result, holds.shape), holds), holds

    return predicate


def _pop(counter: Floats, amount: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
    """The counter less `amount`, but not below 0.0."""
    result = fp.add(counter, fp.input_modifier(amount, 1), clean=clean)
    holds = result <= 0
    return _cleared(result, holds), holds


def _invert(counter: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
    """0.0 becomes 1.0 and 1.0 becomes 0.0."""
    counter = flushed(counter, clean)
    holds = counter == 1
    result = _cleared(counter, holds)
    np.copyto(result, np.float32(1), where=counter == 0)
    return result, holds


def _restore(counter: Floats, *, clean: bool = False) -> tuple[Floats, Mask]:
    """The counter, which is tested for 0.0."""
    holds = flushed(counter, clean) == 0
    return _cleared(counter, holds), holds


def _clear(*, clean: bool = False) -> tuple[Floats, Mask]:
    """A counter that no pop brings to 0.0."""
    return np.full(1, LARGEST, np.float32), np.zeros(1, np.bool_)


def _cleared(x: Floats, where: Mask) -> Floats:
    """A copy of `x` with +0 in some elements."""
    result = x.copy()
    np.copyto(result, np.float32(0), where=where)
    return result


PREDICATES: dict[str, Predicate] = {
    "PRED_SET_INV": _invert,
    "PRED_SET_POP": _pop,
    "PRED_SET_CLR": _clear,
    "PRED_SET_RESTORE": _restore,
}
PREDICATES |= {f"PRED_SET{name}_PUSH": _push(CONDITIONS[name], is_integer=False) for name in ORDINARY}
PREDICATES |= {f"PRED_SET{name}_PUSH_INT": _push(condition, is_integer=True) for name, condition in CONDITIONS.items()}
PREDICATES |= {f"PRED_SET{name}": _set(comparison) for name, comparison in (OF_FLOATS | OF_INTEGERS).items()}
PREDICATES |= {f"KILL{name}": _kill(comparison) for name, comparison in (OF_FLOATS | OF_INTEGERS).items()}
