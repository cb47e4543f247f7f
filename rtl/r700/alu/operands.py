"""The operands of a group, in the form that its decoder gives to the pipeline.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7; docs/design/r700-core.md.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS
from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS, LITERAL, IndexMode
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, GROUP_SLOTS, READ_CYCLES

OPERANDS = 3
ROW_BITS = 14
"""Bits of a constant's row that a clause may name: a clause may lock the last of 256 lines, and the next one."""


PORT = data.StructLayout({"number": REGISTER_BITS, "relative": 1, "mode": IndexMode})
"""The register that is read in one cycle at one channel's port; undefined if none is."""
PAIR = data.StructLayout({"used": 1, "row": ROW_BITS, "half": 1, "relative": 1, "mode": IndexMode})
"""Two neighbouring channels of a constant."""


class Source(enum.Enum, shape=2):
    """The kind of an operand."""

    REGISTER = 0
    VECTOR = 1
    SCALAR = 2
    UNIFORM = 3


VALUE_BITS = 4
"""Lowest bits of an operand's select, which distinguish literals and all inline constants."""
assert len({code % (1 << VALUE_BITS) for code in (*INLINE_CONSTANTS, LITERAL)}) == len(INLINE_CONSTANTS) + 1


class Uniform(enum.Enum, shape=1):
    """An operand that is the same in all pixels: a constant, or a value of the code."""

    CONSTANT = 0
    VALUE = 1


OPERAND = data.StructLayout(
    {
        "source": Source,
        "channel": range(CHANNELS),
        "cycle": range(READ_CYCLES),
        "uniform": Uniform,
        "pair": range(CONSTANT_PAIRS),
        "value": VALUE_BITS,
    }
)
"""A register read in `cycle`, a previous result, a channel of a `pair`, or the value that `value` names."""

READS = data.StructLayout(
    {
        "ports": data.ArrayLayout(data.ArrayLayout(PORT, CHANNELS), READ_CYCLES),
        "pairs": data.ArrayLayout(PAIR, CONSTANT_PAIRS),
        "operands": data.ArrayLayout(data.ArrayLayout(OPERAND, OPERANDS), GROUP_SLOTS),
        "illegal": 1,
        "relative": 1,
    }
)
"""All reads of a group. `relative`: to AR."""
