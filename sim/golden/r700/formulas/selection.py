"""Operations that copy an operand, choose one, or tell whether a comparison holds."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Floats, Mask
from ctm.sim.golden.r700.formulas.comparison import (
    CONDITIONS,
    OF_FLOATS,
    OF_INTEGERS,
    ORDINARY,
    Comparison,
    flushed,
)
from ctm.sim.golden.r700.formulas.kinds import Value


def _move(x: Floats, *, clean: bool = False) -> Floats:
    return x.copy()


def _nothing(*, clean: bool = False) -> Floats:
    return np.zeros(1, np.float32)


def maximum(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
    """MAX: a >= b ? a : b, so `a` of two zeros and `b` if either is a NaN."""
    return fp.choose(flushed(a, clean) >= flushed(b, clean), a, b)


def _maximum_dx10(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
    compared = flushed(a, clean)
    # A NaN in `b` alone leaves `a` not smaller; one in `a` never chooses it.
    return fp.choose(~(compared < flushed(b, clean)) & ~np.isnan(compared), a, b)


def _minimum_dx10(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
    compared = flushed(a, clean)
    return fp.choose(~(compared >= flushed(b, clean)) & ~np.isnan(compared), a, b)


def _select(condition: np.ufunc) -> Value:
    def value(tested: Floats, a: Floats, b: Floats, *, clean: bool = False) -> Floats:
        return fp.choose(condition(flushed(tested, clean), 0), a, b)

    return value


def _select_integer(condition: np.ufunc) -> Value:
    def value(tested: Floats, a: Floats, b: Floats, *, clean: bool = False) -> Floats:
        return fp.choose(condition(tested.view(np.int32), 0), a, b)

    return value


def _number(comparison: Comparison) -> Value:
    def value(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
        return comparison(a, b, clean).astype(np.float32)

    return value


def _ones(comparison: Comparison) -> Value:
    def value(a: Floats, b: Floats, *, clean: bool = False) -> Floats:
        return _all_ones(comparison(a, b, clean))

    return value


def _all_ones(holds: Mask) -> Floats:
    """0xFFFFFFFF where the condition holds, else 0."""
    return np.negative(holds.view(np.int8), dtype=np.int32).view(np.float32)


VALUES: dict[str, Value] = {
    "NOP": _nothing,
    "MOV": _move,
    "MOVA": _move,
    "MOVA_FLOOR": _move,
    "MOVA_INT": _move,
    "MAX": maximum,
    "MIN": fp.minimum,
    "MAX_DX10": _maximum_dx10,
    "MIN_DX10": _minimum_dx10,
}
VALUES |= {f"CND{name}": _select(CONDITIONS[name]) for name in ("E", "GT", "GE")}
VALUES |= {f"CND{name}_INT": _select_integer(CONDITIONS[name]) for name in ("E", "GT", "GE")}
VALUES |= {f"SET{name}": _number(OF_FLOATS[name]) for name in ORDINARY}
VALUES |= {f"SET{name}_DX10": _ones(OF_FLOATS[name]) for name in ORDINARY}
VALUES |= {f"SET{name}": _ones(comparison) for name, comparison in OF_INTEGERS.items()}
