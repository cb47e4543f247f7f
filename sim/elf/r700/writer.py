"""The file of an R700 program."""

from ctm.rtl.isa.r700.program import PROGRAM_FORMAT
from ctm.sim.elf.container.writer import write_container
from ctm.sim.elf.r700.executable import Executable


def file_of(executable: Executable) -> bytes:
    """The ELF file of a program."""
    notes = [(PROGRAM_FORMAT.information, executable.information)]
    return write_container(executable.code, notes, machine=PROGRAM_FORMAT.machine)
