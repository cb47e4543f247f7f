"""The program information of an R700 executable: the note "R700 program".

The real chip had this in registers (SQ_PGM_RESOURCES_PS and others); the note is this project's definition.
"""

from typing import Any

from amaranth.lib import data, enum

from ctm.rtl.isa.executable import EM_ATI_R5XX, PROGRAM_INFORMATION_WORDS, NoteType, ProgramFormat
from ctm.rtl.isa.r700.limits import (
    CODE_UNITS,
    FIRST_CLAUSE_TEMPORARY,
    LDS_BANK_DWORDS,
    LDS_ROW,
    STACK_ENTRIES,
    UNIT_BYTES,
)
from ctm.rtl.isa.word import unpack

FAULT_PC = data.StructLayout({"word": 16, "address": 16})
"""A fault's PC: the address of the CF instruction, and that of what stands in its clause, 0 before it."""

PROGRAM_FORMAT = ProgramFormat(
    machine=EM_ATI_R5XX,
    information=NoteType.R700_PROGRAM,
    version=0x700,
    unit_bytes=UNIT_BYTES,
    most_units=CODE_UNITS,
    image_limit=128 * 1024,
    position_bits=FAULT_PC.size,
    pipeline=NoteType.R700_PIPELINE,
)


def unit_of(pc: int) -> int:
    """The unit of code at a PC: what stands in a clause, else the CF instruction."""
    fields = unpack(FAULT_PC, pc)
    return fields["address"] or fields["word"]


def describe_pc(pc: int) -> str:
    """A fault's PC in words."""
    fields = unpack(FAULT_PC, pc)
    return f"CF instruction {fields['word']}" + (f", address {fields['address']}" if fields["address"] else "")


class ProgramType(enum.Enum, shape=1):
    """Contents of R0 at the start.

    PS: the floats (i, j, 0, 1). CS: the integers i, j, the pixel's number in the domain, and that in its wavefront.
    """

    PS = 0
    CS = 1


PIXEL_TYPE = 2
"""TYPE of a draw's pixel program, which the note "R700 pipeline" beside it goes with."""

VERSION = data.StructLayout({"version": 32})
TYPE = data.StructLayout({"type": ProgramType, "reserved": 31})
CF_START = data.StructLayout({"start": 32})
"""Address of the first CF instruction."""
NUM_GPRS = data.StructLayout({"gprs": 32})
STACK_SIZE = data.StructLayout({"entries": 32})
FLAGS = data.StructLayout({"dx10_clamp": 1, "depth": 1, "memory": 1, "scratch": 1, "reserved": 28})
"""`dx10_clamp`: CLAMP of a NaN is 0. `depth`: an export to 61 is the conditional value, which else is the PE's.
`memory`: MEM_EXPORT writes output 0. `scratch`: output 3 is the scratch."""
MEMORY_OUTPUT = 0
SCRATCH_OUTPUT = 3
"""Outputs that programs with these flags write past the caches: FLOAT32_1, LINEAR."""
TEX_BASE = data.StructLayout({"base": 32})
"""RESOURCE_ID of input 0."""
LDS_DWORDS = data.StructLayout({"dwords": 32})
"""Of each bank of the local data share, for one wavefront."""
ZERO = data.StructLayout({"reserved": 32})

PROGRAM_INFORMATION = {
    "version": VERSION,
    "TYPE": TYPE,
    "CF_START": CF_START,
    "NUM_GPRS": NUM_GPRS,
    "STACK_SIZE": STACK_SIZE,
    "FLAGS": FLAGS,
    "TEX_BASE": TEX_BASE,
    "LDS_DWORDS": LDS_DWORDS,
    **{f"reserved{word}": ZERO for word in range(8, PROGRAM_INFORMATION_WORDS)},
}
"""The descriptor of the note, word 0 first."""


def problem(information: tuple[int, ...], units: int, *, draws: bool = False) -> str:
    """What keeps a program of `units` units of code from being loaded, empty if nothing does.

    `information` is the descriptor of its note, whose version was looked at already; with `draws` it is that of a draw.
    """
    words = dict(zip(PROGRAM_INFORMATION, information, strict=True))
    limits = {
        "TYPE": ("the program type", range(PIXEL_TYPE, PIXEL_TYPE + 1) if draws else range(len(ProgramType))),
        "CF_START": ("CF_START", range(units)),
        "NUM_GPRS": ("NUM_GPRS", range(1, FIRST_CLAUSE_TEMPORARY + 1)),
        "STACK_SIZE": ("STACK_SIZE", range(STACK_ENTRIES + 1)),
        "FLAGS": ("the word of flags", range(1 << 4)),
        "LDS_DWORDS": ("LDS_DWORDS", range(0, LDS_BANK_DWORDS + 1, LDS_ROW)),
    }
    for name, (what, allowed) in limits.items():
        if words[name] not in allowed:
            step = "" if allowed.step == 1 else f", a multiple of {allowed.step}"
            return f"{what} is {words[name]}, not {allowed.start}..{allowed[-1]}{step}"
    if any(words[name] for name in words if name.startswith("reserved")):
        return "a reserved word of its program information is not 0"
    return ""


def values_of(information: tuple[int, ...]) -> dict[str, Any]:
    """What the descriptor of a note says, whose words are allowed, by the names that programs use."""
    words = dict(zip(PROGRAM_INFORMATION, information, strict=True))
    flags = {name: bool(flag) for name, flag in unpack(FLAGS, words["FLAGS"]).items() if name != "reserved"}
    return {
        "type": ProgramType.PS if words["TYPE"] == PIXEL_TYPE else ProgramType(words["TYPE"]),
        "start": words["CF_START"],
        "gprs": words["NUM_GPRS"],
        "stack_size": words["STACK_SIZE"],
        "texture_base": words["TEX_BASE"],
        "lds_dwords": words["LDS_DWORDS"],
        **flags,
    }
