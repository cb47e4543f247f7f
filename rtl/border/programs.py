"""A loaded program, its groups, and how one of them fails."""

from amaranth.lib import data

from ctm.rtl.isa.executable import PROGRAM_INFORMATION_WORDS
from ctm.rtl.isa.limits import ADDRESS_BITS, COLUMN_BITS, COORDINATE_BITS, WORD_BITS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.status import BusClient, Status

PC_BITS = INSTRUCTION_SLOTS.bit_length()

IMAGE = data.StructLayout(
    {
        "code": ADDRESS_BITS,
        "size": PC_BITS,
        "information": data.ArrayLayout(WORD_BITS, PROGRAM_INFORMATION_WORDS),
    }
)
"""A loaded program: where its code is, how many instructions it has, its program information."""

PROGRAM_FAULT = data.StructLayout(
    {"status": Status, "client": BusClient, "pc": PC_BITS, "i": COLUMN_BITS, "j": COORDINATE_BITS}
)
"""Why the array stopped a group; i and j are lane 0's."""


def group_layout(lanes: int) -> data.StructLayout:
    """A group to be run: the pair of its lane 0, and the lanes that are covered."""
    return data.StructLayout({"i": COLUMN_BITS, "j": COORDINATE_BITS, "covered": lanes})
