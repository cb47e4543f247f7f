"""The file of an R700 program."""

from collections.abc import Sequence

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.r700.program import PROGRAM_FORMAT
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.container.writer import write_container
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.r700.executable import Executable


def file_of(executable: Executable) -> bytes:
    """The ELF file of a program. Lines of its code are lines of memory, so that a core loads them fastest.

    Raises
    ------
    ElfError
        It is one program of a draw.
    """
    if executable.stage is not None:
        raise ElfError(f"a program of stage {executable.stage.name} has to be linked with the others of its draw", 0)
    notes: list[tuple[NoteType | ToolNote, Sequence[int]]] = [(PROGRAM_FORMAT.information, executable.information)]
    if executable.pipeline is not None:
        notes.append((NoteType.R700_PIPELINE, executable.pipeline.words))
    if executable.lines is not None:
        notes.append((ToolNote.LINES, executable.lines.words))
    return write_container(executable.code, notes, machine=PROGRAM_FORMAT.machine, alignment=CacheConfig.LINE_BYTES)
