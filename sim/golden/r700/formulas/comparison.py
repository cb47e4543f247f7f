"""Comparisons, as the SET, PRED_SET and KILL operations have them in their names."""

from collections.abc import Callable, Mapping

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Floats, Mask

Comparison = Callable[[Floats, Floats, bool], Mask]
"""f(a, b, clean): where the condition holds."""

CONDITIONS: Mapping[str, np.ufunc] = {
    "E": np.equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
}
ORDINARY = ("E", "GT", "GE", "NE")
"""Conditions of all but the push operations."""


def flushed(x: Floats, clean: bool) -> Floats:
    """`x` as a comparison of floats reads it."""
    return x if clean else fp.flush_denormals(x)


def _of_floats(condition: np.ufunc) -> Comparison:
    def holds(a: Floats, b: Floats, clean: bool) -> Mask:
        mask: Mask = condition(flushed(a, clean), flushed(b, clean))
        return mask

    return holds


def _of_integers(condition: np.ufunc, kind: type[np.int32 | np.uint32]) -> Comparison:
    def holds(a: Floats, b: Floats, _: bool) -> Mask:
        mask: Mask = condition(a.view(kind), b.view(kind))
        return mask

    return holds


OF_FLOATS = {name: _of_floats(CONDITIONS[name]) for name in ORDINARY}
"""By condition. Of a NaN only NE holds."""
OF_INTEGERS = {f"{name}_INT": _of_integers(CONDITIONS[name], np.int32) for name in ORDINARY} | {
    f"{name}_UINT": _of_integers(CONDITIONS[name], np.uint32) for name in ("GT", "GE")
}
"""By condition and type."""
