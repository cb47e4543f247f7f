"""The kinds of programs that executables hold, by the instruction set that they are for."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ctm.sim.elf.container.reader import Container, read_container
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.executable import Executable
from ctm.sim.elf.r5xx import description as r5xx_description
from ctm.sim.elf.r5xx import reader as r5xx_reader
from ctm.sim.elf.r5xx import shader as r5xx_shader
from ctm.sim.elf.r5xx import writer as r5xx_writer
from ctm.sim.elf.r700 import description as r700_description
from ctm.sim.elf.r700 import reader as r700_reader
from ctm.sim.elf.r700 import shader as r700_shader
from ctm.sim.elf.r700 import writer as r700_writer
from ctm.sim.elf.shader import Shader, read_document


@dataclass(frozen=True)
class _Kind:
    """How the program in a container is read, how its file is made, and what is told of it."""

    read: Callable[[Container], Executable]
    write: Callable[[Any], bytes]
    describe: Callable[[Any], dict[str, Any]]


_R700_KEY = "dwords"
"""A key that only documents of R700 programs have."""

_KINDS: Mapping[str, _Kind] = {
    "r5xx": _Kind(r5xx_reader.executable_of, r5xx_writer.file_of, r5xx_description.describe),
    "r700": _Kind(r700_reader.executable_of, r700_writer.file_of, r700_description.describe),
}


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


def read_shader(text: str | bytes) -> Shader:
    """Read a compiled program as JSON; its kind is told by its keys.

    Raises
    ------
    ShaderError
        The text is no JSON object, or a key is missing or has a wrong value.
    """
    document = read_document(text)
    if _R700_KEY in document:
        return r700_shader.shader_of(document)
    return r5xx_shader.shader_of(document)


def write(executable: Executable) -> bytes:
    """The ELF file of a program; it can be loaded as it is at a 2 KiB aligned address."""
    return _KINDS[executable.kind].write(executable)


def describe(executable: Executable) -> dict[str, Any]:
    """What is in an executable; only values that JSON has. What there is depends on the kind.

    `sources` are the files of its line table, with how many lines of each its code comes from.
    """
    described = _KINDS[executable.kind].describe(executable)
    lines = executable.lines
    sources = Counter(line.file for line in set(lines.units if lines else ()) if line)
    found = {"line_table": lines is not None, "sources": dict(sorted(sources.items()))}
    return {"instruction_set": executable.kind, **described, **found}
