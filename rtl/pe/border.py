"""What crosses the border of the command processor."""

from amaranth.lib import data

from ctm.rtl.isa.executable import PROGRAM_INFORMATION_WORDS
from ctm.rtl.isa.limits import COORDINATE_BITS, INSTRUCTION_SLOTS
from ctm.rtl.isa.status import BusClient, Status

WORD_BITS = 32
ADDRESS_BITS = 32
PC_BITS = INSTRUCTION_SLOTS.bit_length()
COLUMN_BITS = COORDINATE_BITS + 1
"""A group reaches beyond the last column with lanes that are not covered."""
OPCODE_BITS = 5
PARAMETERS = 4
"""Most parameters of a command."""

COMMAND_BUFFER = data.StructLayout({"address": ADDRESS_BITS, "dwords": WORD_BITS})
"""A command buffer in memory; its address is a multiple of 4."""

UNIT_COMMAND = data.StructLayout({"opcode": OPCODE_BITS, "words": data.ArrayLayout(WORD_BITS, PARAMETERS)})
"""A command for another unit, whose parameters have been checked. The unit takes it when it has completed it."""

IMAGE = data.StructLayout(
    {
        "code": ADDRESS_BITS,
        "size": PC_BITS,
        "information": data.ArrayLayout(WORD_BITS, PROGRAM_INFORMATION_WORDS),
    }
)
"""A loaded program: where its code is, how many instructions it has, its program information."""

COUNTERS_WRITE = data.StructLayout({"address": ADDRESS_BITS, "clocks": WORD_BITS, "active": WORD_BITS})
"""Performance counters on their way to memory: eight bytes at a multiple of 2 KiB."""

PROGRAM_FAULT = data.StructLayout(
    {"status": Status, "client": BusClient, "pc": PC_BITS, "i": COLUMN_BITS, "j": COORDINATE_BITS}
)
"""Why the array stopped a group; i and j are lane 0's."""

BUS_FAULT = data.StructLayout({"client": BusClient, "address": ADDRESS_BITS})
"""An access that memory refused."""

ERROR = data.StructLayout(
    {
        "status": Status,
        "client": BusClient,
        "address": ADDRESS_BITS,
        "word": WORD_BITS,
        "pc": PC_BITS,
        "i": COLUMN_BITS,
        "j": COORDINATE_BITS,
    }
)
"""Why a buffer was dropped. What a status does not concern is 0."""


def group_layout(lanes: int) -> data.StructLayout:
    """A group to be run: the pair of its lane 0, and the lanes that are covered."""
    return data.StructLayout({"i": COLUMN_BITS, "j": COORDINATE_BITS, "covered": lanes})
