"""What issue ports, scheduler and instruction store say to each other.

Free of any instruction set: each has its ports, and says of an instruction what a scheduler must know.
"""

from amaranth.lib import data, enum

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r5xx.state import PC_BITS


class Unit(enum.Enum, shape=2):
    """The issue port that takes an instruction. FLOW also takes what is to fault."""

    ALU = 0
    TEXTURE = 1
    FLOW = 2


PORTS = len(Unit)


STALLS = ("LOOKUPS", "LOADING", "REQUESTS", "LATENCY", "ENDS")
"""Why a core that has groups issues no ALU instruction in a cycle; of several causes the first one counts.

LOOKUPS: a group waits for its lookups or uncached writes; LOADING: for instructions or constants; REQUESTS: for a place
for its lookup or uncached write on the way to memory; LATENCY: all groups wait for their last instruction or issue
others; ENDS: groups only start or end.
"""


class Summary(data.Struct):
    """What a scheduler must know of an instruction.

    `waits`: not before the semaphore is free. `late`: it enters the lanes behind the presubtract unit. `writes`: it
    writes past the caches.
    """

    unit: Unit
    waits: 1
    late: 1
    writes: 1


def slot_bits(config: ArrayConfig) -> int:
    """Width of a slot's number."""
    return (config.threads - 1).bit_length()


def row_bits(config: ArrayConfig) -> int:
    """Width of a row's number: the slot's, and above it which of the slot's two rows it is.

    A slot's groups take its rows in turn. A group that has left its slot keeps its row until its outputs are sent.
    """
    return slot_bits(config) + 1


def issue_layout(config: ArrayConfig) -> data.StructLayout:
    """An instruction that a port is to execute."""
    return data.StructLayout({"valid": 1, "slot": slot_bits(config), "pc": PC_BITS})


def done_layout(config: ArrayConfig) -> data.StructLayout:
    """How a port leaves a group: exactly one of these for each instruction that was issued.

    With `again` nothing has happened, and the instruction is issued again when what it needs is there. Else, with
    `ends` or `faults` the group is at its end; else it goes on at `pc`, with an instruction that `following` describes,
    unless it `jumps`.
    """
    return data.StructLayout(
        {
            "valid": 1,
            "slot": slot_bits(config),
            "again": 1,
            "ends": 1,
            "faults": 1,
            "jumps": 1,
            "pc": PC_BITS,
            "following": Summary,
        }
    )
