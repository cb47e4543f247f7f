"""The interface of issue ports and scheduler, for the ports of `Shapes`."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import CORE_CREDITS
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


class Admission(Interface):
    """The admission of wavefronts, seen from the unit that admits them.

    Members
    -------
    usable : ``Out(threads)``
        The wave slots that the program may use, from the next cycle on.
    free : ``In(range(CORE_CREDITS + 1))``
        Wave slots that are free, `CORE_CREDITS` at most.
    context : ``In(context_bits(config))``
        The context of the next wavefront; only if a wave slot is `free`.
    admit : ``Out(1)``
        A wavefront takes `context`; only if a wave slot is `free`.
    """

    def __init__(self, config: ArrayConfig) -> None:
        super().__init__(
            {
                "usable": Out(config.threads),
                "free": In(range(CORE_CREDITS + 1)),
                "context": In(context_bits(config)),
                "admit": Out(1),
            }
        )


class Vacating(Interface):
    """The end of a wavefront whose wave slot the next one may take at once, seen from the port that executes it.

    Members
    -------
    ending : ``Out({valid, wave, failed})``
        A wavefront's last instruction was issued and has all that it needs, unless it `failed`: then it ends by `done`.
    vacates : ``In(1)``
        That wavefront vacates its wave slot unless its instruction failed, and there will be no `done`. It does not
        follow from `failed`, which comes late in the cycle.
    """

    def __init__(self, config: ArrayConfig) -> None:
        ending = data.StructLayout({"valid": 1, "wave": wave_bits(config), "failed": 1})
        super().__init__({"ending": Out(ending), "vacates": In(1)})


class SummaryRead(Interface):
    """Reads of instructions' summaries, seen from the scheduler.

    Members
    -------
    fetch : ``Out(issue_layout(config, shapes))``
        The instruction whose summary is read, for no wavefront if it is not valid.
    fetched : ``In(shapes.summary)``
        Its summary, a cycle later.
    can_fetch : ``In(1)``
        A summary can be read.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        fetch = issue_layout(config, shapes)
        super().__init__({"fetch": Out(fetch), "fetched": In(shapes.summary), "can_fetch": In(1)})


class Availability(Interface):
    """What instructions need beside their own wavefront, seen from the scheduler.

    Members
    -------
    ready : ``In(ports)``
        Ports that can take an instruction.
    resources : ``In(resources)``
        Resources that are available.
    constants : ``In(1)``
        No constants are being loaded: wavefronts that waited for them wake.
    """

    def __init__(self, shapes: Shapes) -> None:
        super().__init__({"ready": In(len(shapes.ports)), "resources": In(len(shapes.resources)), "constants": In(1)})


class Outstanding(Interface):
    """What wave slots have outstanding, seen from the scheduler.

    Members
    -------
    blocked : ``In(threads)``
        Wave slots whose semaphore is taken.
    full : ``In(threads)``
        Wave slots with the most fetches that they may have.
    drained : ``In(threads)``
        Wave slots with nothing outstanding.
    """

    def __init__(self, threads: int) -> None:
        super().__init__({"blocked": In(threads), "full": In(threads), "drained": In(threads)})


class EndedWavefronts(Interface):
    """Wavefronts that have ended, seen from the unit that has them.

    Members
    -------
    ready : ``In(1)``
        One can be taken.
    wavefront : ``Out({valid, context, faulted})``
        One that ended, with nothing outstanding; only while `ready`.
    """

    def __init__(self, context_bits: int) -> None:
        ended = data.StructLayout({"valid": 1, "context": context_bits, "faulted": 1})
        super().__init__({"ready": In(1), "wavefront": Out(ended)})


class Contexts(Interface):
    """The contexts of all wave slots, seen from the scheduler.

    Members
    -------
    second : ``Out(threads)``
        Wave slots whose wavefront has the second of the two contexts.
    taken : ``Out(2 * threads)``
        Contexts that are not free.
    """

    def __init__(self, threads: int) -> None:
        super().__init__({"second": Out(threads), "taken": Out(2 * threads)})
