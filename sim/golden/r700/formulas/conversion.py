"""Conversions between floats and integers."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Floats
from ctm.sim.golden.r700.formulas.kinds import Value


def _to_int(x: Floats, *, clean: bool = False) -> Floats:
    return fp.to_int32(x).view(np.float32)


def _to_uint(x: Floats, *, clean: bool = False) -> Floats:
    return fp.to_uint32(x).view(np.float32)


def _from_int(x: Floats, *, clean: bool = False) -> Floats:
    return fp.from_integer(x.view(np.int32))


def _from_uint(x: Floats, *, clean: bool = False) -> Floats:
    return fp.from_integer(x.view(np.uint32))


VALUES: dict[str, Value] = {
    "FLT_TO_INT": _to_int,
    "FLT_TO_UINT": _to_uint,
    "INT_TO_FLT": _from_int,
    "UINT_TO_FLT": _from_uint,
}
