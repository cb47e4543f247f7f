"""R700 programs, with the type that they have."""

from ctm.sim import assembler
from ctm.sim.elf.r700.executable import Executable


def assemble(source: str, *, name: str = "<source>") -> Executable:
    """A program for R700; see `assembler.assemble`."""
    found = assembler.assemble(source, name=name)
    assert isinstance(found, Executable)
    return found
