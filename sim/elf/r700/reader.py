"""The R700 program in an executable."""

from ctm.rtl.isa.r700 import program as r700
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.container.reader import Container
from ctm.sim.elf.error import ElfError
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
    words = dict(zip(r700.PROGRAM_INFORMATION, container.information, strict=True))
    flags = unpack(r700.FLAGS, words["FLAGS"])
    return Executable(
        code=container.code,
        start=words["CF_START"],
        type=ProgramType(words["TYPE"]),
        gprs=words["NUM_GPRS"],
        stack_size=words["STACK_SIZE"],
        dx10_clamp=bool(flags["dx10_clamp"]),
        depth=bool(flags["depth"]),
        memory=bool(flags["memory"]),
        scratch=bool(flags["scratch"]),
        texture_base=words["TEX_BASE"],
        lds_dwords=words["LDS_DWORDS"],
    )
