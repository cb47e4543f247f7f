"""A loaded program, its wavefronts, and their faults."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

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


CORE_CREDITS = 2
"""Most wavefronts in flight to one of several cores. So many keep a core busy with starting wavefronts."""


class CoreCredit(wiring.Signature):
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


def wavefront_layout(lanes: int, cores: int = 1, drawn: data.StructLayout | None = None) -> data.StructLayout:
    """A wavefront to be run: the pair of its lane 0, the lanes that are covered, and which of `cores` runs it.

    `drawn` is what it has beside that where the machine draws.
    """
    fields: dict[str, ShapeLike] = {"i": COLUMN_BITS, "j": COORDINATE_BITS, "covered": lanes, "core": range(cores)}
    return data.StructLayout(fields if drawn is None else fields | {"drawn": drawn})
