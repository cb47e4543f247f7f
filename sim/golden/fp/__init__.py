"""The machine's arithmetic on float32 arrays, exact to the last bit.

Arrays are carriers of 32-bit words. Results are new arrays unless `out` is given. Threads may compute at once.
`ctm.sim.golden.fp.scalar` says the same in plain integers, one word at a time. Source: CTM Guide pp. 26-42;
docs/arithmetic.md.
"""

from ctm.sim.golden.fp.addition import add, multiply_add, presubtract, scale
from ctm.sim.golden.fp.conversion import coordinate_index, from_unorm8, from_unorm16, to_unorm8, to_unorm16
from ctm.sim.golden.fp.dot_product import dot
from ctm.sim.golden.fp.fractional_part import fraction
from ctm.sim.golden.fp.modifiers import clamp, input_modifier, output_modifier
from ctm.sim.golden.fp.rounding import canonicalise, flush_denormals, has_denormal
from ctm.sim.golden.fp.selection import maximum, minimum, select_above_half, select_not_negative, test_zero
from ctm.sim.golden.fp.transcendental import cos, ex2, ln2, rcp, rsq, sin

__all__ = [
    "add",
    "canonicalise",
    "clamp",
    "coordinate_index",
    "cos",
    "dot",
    "ex2",
    "flush_denormals",
    "fraction",
    "from_unorm16",
    "from_unorm8",
    "has_denormal",
    "input_modifier",
    "ln2",
    "maximum",
    "minimum",
    "multiply_add",
    "output_modifier",
    "presubtract",
    "rcp",
    "rsq",
    "scale",
    "select_above_half",
    "select_not_negative",
    "sin",
    "test_zero",
    "to_unorm16",
    "to_unorm8",
]
