"""The kinds of programs that executables hold, by the instruction set that they are for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ctm.sim.elf.container.reader import Container, read_container
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.elf.r5xx.reader import executable_of
from ctm.sim.elf.r5xx.writer import file_of


@dataclass(frozen=True)
class _Kind:
    """How the program in a container is read, and how its file is made."""

    read: Callable[[Container], Executable]
    write: Callable[[Executable], bytes]


_KINDS: Mapping[str, _Kind] = {Executable.kind: _Kind(executable_of, file_of)}


def read(data: bytes) -> Executable:
    """Read a DPP executable.

    Raises
    ------
    ElfError
        The file is malformed; the machine would not load it, or its notes make no sense.
    """
    container = read_container(data)
    if container.kind not in _KINDS:
        raise ElfError(f"it is a program for {container.kind}, which cannot be read", 0)
    return _KINDS[container.kind].read(container)


def write(executable: Executable) -> bytes:
    """The ELF file of a program; it can be loaded as it is at a 2 KiB aligned address."""
    return _KINDS[executable.kind].write(executable)
