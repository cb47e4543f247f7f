"""A loaded program, its wavefronts, and their faults."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.executable import PIPELINE_INFORMATION_WORDS, PROGRAM_INFORMATION_WORDS, ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, COLUMN_BITS, COORDINATE_BITS, WORD_BITS
from ctm.rtl.isa.status import BusClient, Status

DOMAIN = data.StructLayout({name: COORDINATE_BITS for name in ("i0", "j0", "i1", "j1")})
"""The pairs that a program runs for, from (i0, j0) to (i1, j1)."""


def image_layout(program_format: ProgramFormat, *, draws: bool = False) -> data.StructLayout:
    """A loaded program: its code's address, its size in units of the pc, its program information.

    With `draws` it may have one note that describes a draw's programs: how many were found, 2 for more, and the words.
    """
    words = data.ArrayLayout(WORD_BITS, PIPELINE_INFORMATION_WORDS)
    pipeline: dict[str, ShapeLike] = {"pipelines": 2, "pipeline": words} if draws else {}
    return data.StructLayout(
        {
            "code": ADDRESS_BITS,
            "size": program_format.pc_bits,
            "information": data.ArrayLayout(WORD_BITS, PROGRAM_INFORMATION_WORDS),
            **pipeline,
        }
    )


def program_fault_layout(program_format: ProgramFormat) -> data.StructLayout:
    """Why the array stopped a wavefront; i and j are lane 0's."""
    return data.StructLayout(
        {
            "status": Status,
            "client": BusClient,
            "pc": program_format.fault_pc_bits,
            "i": COLUMN_BITS,
            "j": COORDINATE_BITS,
        }
    )


class LaunchClient(Interface):
    """The launch of the loaded program, seen from the command processor.

    Members
    -------
    image : ``Out(image_layout(program_format, draws=draws))``
    conditional_value : ``Out(32)``
    domain : ``Out(DOMAIN)``
        Of the program that runs, from its start to its end.
    status : ``In(Status)``
        OK, or the error that prevents the array from running the image in the present state. Combinational.
    """

    def __init__(self, program_format: ProgramFormat, *, draws: bool = False) -> None:
        super().__init__(
            {
                "image": Out(image_layout(program_format, draws=draws)),
                "conditional_value": Out(WORD_BITS),
                "domain": Out(DOMAIN),
                "status": In(Status),
            }
        )


CORE_CREDITS = 2
"""Most wavefronts in flight to one of several cores. So many keep a core busy with starting wavefronts."""


class CoreCredit(Interface):
    """Credits for wavefronts, from one of several cores to the dispatcher.

    Members
    -------
    free : ``Out(range(CORE_CREDITS + 1))``
        Free wave slots, `CORE_CREDITS` at most.
    taken : ``Out(1)``
        A wavefront takes one.
    """

    def __init__(self) -> None:
        super().__init__({"free": Out(range(CORE_CREDITS + 1)), "taken": Out(1)})


class ArrayReport(Interface):
    """What the array says of the wavefronts that it is given, seen from the array.

    Members
    -------
    idle : ``Out(1)``
        It runs no wavefront; may still be high in the cycle after one was taken.
    fault : ``Out(stream.Signature(program_fault_layout(program_format), always_ready=True))``
        At the latest with `idle`; the program's first one counts.
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        fault = program_fault_layout(program_format)
        super().__init__({"idle": Out(1), "fault": Out(stream.Signature(fault, always_ready=True))})


def wavefront_layout(lanes: int, cores: int = 1, drawn: data.StructLayout | None = None) -> data.StructLayout:
    """A wavefront to be run: the pair of its lane 0, the lanes that are covered, and which of `cores` runs it.

    `drawn` is what it has beside that where the machine draws.
    """
    fields: dict[str, ShapeLike] = {"i": COLUMN_BITS, "j": COORDINATE_BITS, "covered": lanes, "core": range(cores)}
    return data.StructLayout(fields if drawn is None else fields | {"drawn": drawn})
