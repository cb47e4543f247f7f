"""What issue ports and scheduler say to each other, for the ports that `Shapes` has."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes

STALLS = ("LOOKUPS", "LOADING", "REQUESTS", "LATENCY", "ENDS")
"""Why a core that has wavefronts issues nothing at its counted port in a cycle; of several causes the first one counts.

LOOKUPS: a wavefront waits for its fetches or uncached writes; LOADING: for instructions or constants; REQUESTS: for a
place for its fetch or uncached write on the way to memory; LATENCY: all wavefronts wait for their last instruction or
issue others; ENDS: wavefronts only start or end. Cycles in which that port works on the beats of one that it has have
no cause. """


def wave_bits(config: ArrayConfig) -> int:
    """Width of a wave slot's number."""
    return (config.threads - 1).bit_length()


def context_bits(config: ArrayConfig) -> int:
    """Width of a context's number: the wave slot's, and above it which of the wave slot's two contexts it is.

    A wave slot's wavefronts take its contexts alternately. A wavefront that has left its wave slot keeps its context
    until its outputs are sent.
    """
    return wave_bits(config) + 1


def issue_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """An instruction that a port is to execute."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "pc": shapes.pc_bits})


def done_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """How a port leaves a wavefront: exactly one of these for each instruction that was issued.

    With `again` nothing has happened, and the instruction is issued again when what it needs is there. Else, with
    `ends` or `faults` the wavefront is at its end; else it goes on at `pc`, with an instruction that `following`
    describes, unless it `jumps`.
    """
    return data.StructLayout(
        {
            "valid": 1,
            "wave": wave_bits(config),
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
        How the port leaves the wavefront: once for each instruction, but not of a wavefront that has left its wave
        slot.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        super().__init__({"issue": Out(issue_layout(config, shapes)), "done": In(done_layout(config, shapes))})
