"""The interface of issue ports and scheduler, for the ports of `Shapes`."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes

STALLS = ("LOOKUPS", "LOADING", "REQUESTS", "LATENCY", "ENDS")
"""Why a core that has wavefronts issues nothing at its counted port in a cycle; the first cause that applies counts.

LOOKUPS: a wavefront waits for its fetches or uncached writes. LOADING: for instructions or constants. REQUESTS: for
space towards memory for its fetch or uncached write. LATENCY: all wavefronts wait for their previous instruction, or
issue to other ports. ENDS: wavefronts only start or end. Cycles in which the port executes further beats have no cause.
"""


def wave_bits(config: ArrayConfig) -> int:
    """Width of a wave slot's number."""
    return (config.threads - 1).bit_length()


def context_bits(config: ArrayConfig) -> int:
    """Width of a context's number: the wave slot's, and one bit above it.

    A context holds a wavefront's state until its outputs are sent, also after the wavefront vacated its wave slot. The
    wavefronts of a wave slot take its two contexts alternately.
    """
    return wave_bits(config) + 1


def issue_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """An instruction that a port is to execute."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "pc": shapes.pc_bits})


def done_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """The outcome of an issued instruction: exactly one for each.

    With `again` it had no effect, and is issued again when its operands are loaded. With `ends` or `faults` the
    wavefront is finished. Else it continues at `pc`; `following` is that instruction's summary, unless it `jumps`.
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
        An instruction that the port executes; it cannot stall.
    done : ``In(done_layout(config, shapes))``
        Once for each instruction, but not of a wavefront that vacated its wave slot.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        super().__init__({"issue": Out(issue_layout(config, shapes)), "done": In(done_layout(config, shapes))})
