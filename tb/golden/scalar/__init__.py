"""The arithmetic's specification: plain integers, one set of 32-bit words at a time.

It shares nothing with the array version but the table of the transcendental unit, and is written to be read.
"""

from ctm.tb.golden.scalar.arithmetic import (
    add,
    dot,
    fraction,
    multiply,
    multiply_add,
    multiply_then_add,
    presubtract,
)
from ctm.tb.golden.scalar.conversion import coordinate_index, from_integer, from_unorm, to_integer, to_unorm
from ctm.tb.golden.scalar.integral import ceil, floor, rint, trunc
from ctm.tb.golden.scalar.selection import (
    clamp,
    input_modifier,
    maximum,
    minimum,
    output_modifier,
    select_above_half,
    select_not_negative,
    test_zero,
)
from ctm.tb.golden.scalar.transcendental import cos, ex2, ln2, rcp, rsq, sin

__all__ = [
    "add",
    "ceil",
    "clamp",
    "coordinate_index",
    "cos",
    "dot",
    "ex2",
    "floor",
    "fraction",
    "from_integer",
    "from_unorm",
    "input_modifier",
    "ln2",
    "maximum",
    "minimum",
    "multiply",
    "multiply_add",
    "multiply_then_add",
    "output_modifier",
    "presubtract",
    "rcp",
    "rint",
    "rsq",
    "select_above_half",
    "select_not_negative",
    "sin",
    "test_zero",
    "to_integer",
    "to_unorm",
    "trunc",
]
