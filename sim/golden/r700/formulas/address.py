"""What the MOVA operations put into the address register."""

import numpy as np
import numpy.typing as npt

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Doubles, Floats
from ctm.sim.golden.r700.formulas.kinds import Index

_LEAST, _MOST = -256, 255
"""Indices have 9 bits."""


def _nearest(x: Floats) -> npt.NDArray[np.int64]:
    # The sum is inexact for a tiny `x`, where its floor is 0 all the same, and far beyond the range.
    return _saturated(np.floor(_number(x) + 0.5))


def _floor(x: Floats) -> npt.NDArray[np.int64]:
    return _saturated(np.floor(_number(x)))


def _number(x: Floats) -> Doubles:
    with np.errstate(all="ignore"):
        return fp.flush_denormals(x).astype(np.float64)


def _saturated(value: Doubles) -> npt.NDArray[np.int64]:
    return np.clip(np.where(np.isnan(value), 0, value), _LEAST, _MOST).astype(np.int64)


def _integer(x: Floats) -> npt.NDArray[np.int64]:
    return np.clip(x.view(np.int32), _LEAST, _MOST).astype(np.int64)


INDICES: dict[str, Index] = {
    "MOVA": _nearest,
    "MOVA_FLOOR": _floor,
    "MOVA_INT": _integer,
}
