"""Registers in slices: where a wavefront has many passes, its registers are stored in slices of a few passes.

A slice is the pixels of as many passes as there are cycles from one read of an operand to the next. It has registers
as if it were a wavefront: those of the first slice come first, then those of the second one, and so on.
"""

from dataclasses import replace
from typing import Any

from amaranth import Const, Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, READ_CYCLES

PERIOD = READ_CYCLES + 1
"""Cycles in which the operands of a slice are read, and one for other units' reads."""


def by_slice(config: ArrayConfig) -> ArrayConfig:
    """An array whose wavefronts are the slices of this one's."""
    size = PERIOD * config.at_once
    return replace(config, wavefront=size) if size < config.wavefront_lanes else config


def slices_of(config: ArrayConfig) -> int:
    """Slices of a wavefront, a power of two."""
    return config.wavefront_lanes // by_slice(config).wavefront_lanes


def slice_bits(config: ArrayConfig) -> int:
    """Width of a slice's number, 0 for the only one."""
    return (slices_of(config) - 1).bit_length()


def slice_fields(config: ArrayConfig) -> dict[str, int]:
    """The field `slice` of a layout, if there are several."""
    return {"slice": slice_bits(config)} if slices_of(config) > 1 else {}


def slice_in(config: ArrayConfig, holder: Any) -> Value:
    """The number of the slice that a view holds."""
    return Value.cast(holder.slice) if slices_of(config) > 1 else Const(0)


def slice_of(config: ArrayConfig, values: Any, number: Value) -> Value:
    """A slice's values of a value that each pixel of a wavefront has, pixel 0 first."""
    value, count = Value.cast(values), slices_of(config)
    return value.word_select(number, len(value) // count) if count > 1 else value


def rows_of(gprs: Value) -> Value:
    """Rows of the register file that a slice of a wavefront has, for a program of so many registers."""
    return gprs + CLAUSE_TEMPORARIES
