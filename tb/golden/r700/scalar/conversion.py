"""Conversions between floats and integers."""

from collections.abc import Callable

from ctm.tb.golden import scalar
from ctm.tb.golden.r700.scalar.integer import signed, wrapped

VALUES: dict[str, Callable[..., int]] = {
    "FLT_TO_INT": lambda s0: wrapped(scalar.to_integer(s0, -(1 << 31), (1 << 31) - 1)),
    "FLT_TO_UINT": lambda s0: scalar.to_integer(s0, 0, (1 << 32) - 1),
    "INT_TO_FLT": lambda s0: scalar.from_integer(signed(s0)),
    "UINT_TO_FLT": scalar.from_integer,
}
