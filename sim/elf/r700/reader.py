"""The R700 program in an executable."""

from ctm.rtl.isa.r700 import program as r700
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
    found = r700.problem(container.information, len(container.code))
    if found:
        raise ElfError(found, container.notes[r700.PROGRAM_FORMAT.information].offset)
    lines = lines_of(container.notes, len(container.code))
    return Executable(code=container.code, lines=lines, **r700.values_of(container.information))
