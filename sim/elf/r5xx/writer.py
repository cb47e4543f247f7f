"""The file of an R5xx program; CTM Guide pp. 45-49."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.r5xx import program as r5xx
from ctm.rtl.isa.word import pack
from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.container.writer import write_container
from ctm.sim.elf.r5xx.executable import Executable


def file_of(executable: Executable) -> bytes:
    """The ELF file of a program. A note that would say nothing is left out, except the program information."""
    notes = list(_descriptors(executable))
    return write_container(executable.instructions, notes, machine=r5xx.PROGRAM_FORMAT.machine)


def _descriptors(executable: Executable) -> Iterator[tuple[NoteType | ToolNote, Sequence[int]]]:
    """Every note to write, with the words of its descriptor."""
    notes = executable.notes
    yield r5xx.PROGRAM_FORMAT.information, _program_information(executable)
    for kind, words in (
        (NoteType.INPUTS, notes.inputs),
        (NoteType.OUTPUTS, notes.outputs),
        (NoteType.CONDITIONAL_OUTPUT, (1,) * notes.conditional_output),
        (NoteType.FLOAT32_CONSTANTS, notes.float_constants),
        (NoteType.INT32_CONSTANTS, notes.int_constants),
        (NoteType.EARLY_EXIT, (1,) * notes.early_exit),
    ):
        if words:
            yield kind, words
    if executable.lines is not None:
        yield ToolNote.LINES, executable.lines.words
    if executable.own_constants != OwnConstants():
        yield ToolNote.CONSTANTS, executable.own_constants.words


def _program_information(executable: Executable) -> list[int]:
    words = {
        "version": r5xx.PROGRAM_FORMAT.version,
        "FG_DEPTH_SRC": executable.fg_depth_src,
        "US_CONFIG": executable.us_config,
        "US_PIXSIZE": pack(r5xx.US_PIXSIZE, highest_temporary=executable.highest_temporary),
        "US_FC_CTRL": executable.us_fc_ctrl,
        "US_CODE_ADDR": pack(r5xx.US_CODE_ADDR, start=executable.start, end=executable.end),
        "US_CODE_RANGE": pack(r5xx.US_CODE_RANGE, size=len(executable.instructions) - 1),
        "US_CODE_OFFSET": pack(r5xx.US_CODE_OFFSET, offset=executable.offset),
        "US_W_FMT": executable.us_w_fmt,
        "UMRT": pack(r5xx.UMRT, uncached_writes=int(executable.uncached_writes)),
    }
    return [words.get(name, 0) for name in r5xx.PROGRAM_INFORMATION]
