"""The R700 program in an executable."""

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.r700 import program as r700
from ctm.rtl.isa.r700.pipeline import pipeline_of
from ctm.sim.elf.container.reader import Container
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.lines import lines_of
from ctm.sim.elf.r700.executable import Executable


def executable_of(container: Container) -> Executable:
    """The program in a container of its kind.

    Raises
    ------
    ElfError
        Its program information is not one that the machine takes.
    """
    note = container.notes.get(NoteType.R700_PIPELINE)
    found = r700.problem(container.information, len(container.code), draws=note is not None)
    if found:
        raise ElfError(found, container.notes[r700.PROGRAM_FORMAT.information].offset)
    try:
        pipeline = None if note is None else pipeline_of(note.words, len(container.code))
    except ValueError as error:
        assert note is not None
        raise ElfError(str(error), note.offset) from None
    lines = lines_of(container.notes, len(container.code))
    return Executable(code=container.code, pipeline=pipeline, lines=lines, **r700.values_of(container.information))
