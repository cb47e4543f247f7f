"""The real programs of tb/data/r700, and any code as a program."""

from collections.abc import Sequence

from ctm.sim.elf import read_shader
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.tb.r700.shaders import FILES

NAMES = tuple(FILES)


def load(name: str) -> Executable:
    """A real program."""
    executable = read_shader(FILES[name].read_text()).executable
    assert isinstance(executable, Executable)
    return executable


def program(code: Sequence[Unit], **note: object) -> Executable:
    """Code as a program, with what its note says."""
    return Executable(code=tuple(tuple(unit) for unit in code), **note)  # type: ignore[arg-type]
