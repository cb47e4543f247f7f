"""The machine's arithmetic on float32 arrays, exact to the last bit.

Arrays are carriers of 32-bit words. Results are new arrays unless `out` is given. Threads may compute at once.
`tb/golden/scalar` says the same in plain integers, one word at a time. Source: CTM Guide pp. 26-42;
docs/arithmetic.md.
"""

from ctm.sim.golden.fp.addition import add, multiply_add, presubtract
from ctm.sim.golden.fp.conversion import (
    coordinate_index,
    from_integer,
    from_unorm8,
    from_unorm16,
    to_int32,
    to_uint32,
    to_unorm8,
    to_unorm16,
)
from ctm.sim.golden.fp.dot_product import dot
from ctm.sim.golden.fp.fractional_part import fraction
from ctm.sim.golden.fp.integral import ceil, floor, rint, trunc
from ctm.sim.golden.fp.modifiers import clamp, input_modifier, output_modifier
from ctm.sim.golden.fp.multiplication import multiply, multiply_then_add
from ctm.sim.golden.fp.rounding import canonicalise, flush_denormals, has_denormal, without_denormals
from ctm.sim.golden.fp.selection import choose, maximum, minimum, select_above_half, select_not_negative, test_zero
from ctm.sim.golden.fp.transcendental import cos, ex2, ln2, rcp, rsq, sin

__all__ = [
    "add",
    "canonicalise",
    "ceil",
    "choose",
    "clamp",
    "coordinate_index",
    "cos",
    "dot",
    "ex2",
    "floor",
    "flush_denormals",
    "fraction",
    "from_integer",
    "from_unorm16",
    "from_unorm8",
    "has_denormal",
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
    "to_int32",
    "to_uint32",
    "to_unorm16",
    "to_unorm8",
    "trunc",
    "without_denormals",
]
