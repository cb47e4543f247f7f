"""R5xx programs, with the type that they have."""

from ctm.sim import assembler
from ctm.sim.elf.r5xx.executable import Executable


def assemble(source: str, *, name: str = "<source>") -> Executable:
    """A program for R5xx; see `assembler.assemble`."""
    found = assembler.assemble(source, name=name)
    assert isinstance(found, Executable)
    return found
