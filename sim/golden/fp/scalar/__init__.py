"""The arithmetic's specification: plain integers, one set of 32-bit words at a time.

It shares nothing with the array version but the table of the transcendental unit, and is written to be read.
"""

from ctm.sim.golden.fp.scalar.arithmetic import add, dot, fraction, multiply, multiply_add, presubtract
from ctm.sim.golden.fp.scalar.conversion import coordinate_index, from_unorm, to_unorm
from ctm.sim.golden.fp.scalar.selection import (
    clamp,
    input_modifier,
    maximum,
    minimum,
    output_modifier,
    select_above_half,
    select_not_negative,
    test_zero,
)
from ctm.sim.golden.fp.scalar.transcendental import cos, ex2, ln2, rcp, rsq, sin

__all__ = [
    "add",
    "clamp",
    "coordinate_index",
    "cos",
    "dot",
    "ex2",
    "fraction",
    "from_unorm",
    "input_modifier",
    "ln2",
    "maximum",
    "minimum",
    "multiply",
    "multiply_add",
    "output_modifier",
    "presubtract",
    "rcp",
    "rsq",
    "select_above_half",
    "select_not_negative",
    "sin",
    "test_zero",
    "to_unorm",
]
