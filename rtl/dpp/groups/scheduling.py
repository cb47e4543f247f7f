"""What issue ports and scheduler say to each other, for the ports that `Shapes` has."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes

STALLS = ("LOOKUPS", "LOADING", "REQUESTS", "LATENCY", "ENDS")
"""Why a core that has groups issues nothing at its counted port in a cycle; of several causes the first one counts.

LOOKUPS: a group waits for its lookups or uncached writes; LOADING: for instructions or constants; REQUESTS: for a place
for its lookup or uncached write on the way to memory; LATENCY: all groups wait for their last instruction or issue
others; ENDS: groups only start or end. Cycles in which that port works on the beats of one that it has have no cause.
"""


def slot_bits(config: ArrayConfig) -> int:
    """Width of a slot's number."""
    return (config.threads - 1).bit_length()


def row_bits(config: ArrayConfig) -> int:
    """Width of a row's number: the slot's, and above it which of the slot's two rows it is.

    A slot's groups take its rows alternately. A group that has left its slot keeps its row until its outputs are sent.
    """
    return slot_bits(config) + 1


def issue_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """An instruction that a port is to execute."""
    return data.StructLayout({"valid": 1, "slot": slot_bits(config), "pc": shapes.pc_bits})


def done_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
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
            "pc": shapes.pc_bits,
            "following": shapes.summary,
        }
    )


class IssuePort(Interface):
    """The scheduler and one of its issue ports, seen from the scheduler.

    Members
    -------
    issue : ``Out(issue_layout(config, shapes))``
        An instruction that the port executes; it cannot be refused.
    done : ``In(done_layout(config, shapes))``
        How the port leaves the group: once for each instruction, but not of a group that has left its slot.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        super().__init__({"issue": Out(issue_layout(config, shapes)), "done": In(done_layout(config, shapes))})
