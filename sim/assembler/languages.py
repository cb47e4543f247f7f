"""The languages that there are, and what a user asks of them; docs/assembler.md describes that of R5xx programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ctm.sim.assembler.listing import Listing
from ctm.sim.assembler.r5xx.printer.disassembler import disassemble as disassemble_r5xx
from ctm.sim.assembler.r5xx.program import assemble as assemble_r5xx
from ctm.sim.elf import Executable
from ctm.sim.elf.r5xx.executable import Executable as R5xxExecutable


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language for programs.

    name
        As `assemble` takes it.
    kind
        The instruction set that its programs are for, as executables have it.
    assemble
        Assembles a text; the second argument is the file in messages. AssemblyError has all that is wrong.
    disassemble
        Writes a program as a text that assembles to an equal one.
    """

    name: str
    kind: str
    assemble: Callable[[str, str], Listing]
    disassemble: Callable[[Any], str]


_R5XX = Language(name="r5xx", kind=R5xxExecutable.kind, assemble=assemble_r5xx, disassemble=disassemble_r5xx)
LANGUAGES = {language.name: language for language in (_R5XX,)}


def assemble(source: str, *, name: str = "<source>", language: str = _R5XX.name) -> Executable:
    """Assemble a program; `name` is the file in messages. The language: docs/assembler.md.

    Raises
    ------
    AssemblyError
        With every error of the text that could be told, at most MOST_ERRORS.
    """
    return assemble_listing(source, name=name, language=language).executable


def assemble_listing(source: str, *, name: str = "<source>", language: str = _R5XX.name) -> Listing:
    """As `assemble`, with the lines that the instructions come from."""
    if language not in LANGUAGES:
        raise ValueError(f"there is no language {language!r}; there is: {', '.join(LANGUAGES)}")
    return LANGUAGES[language].assemble(source, name)


def disassemble(executable: Executable) -> str:
    """The program as text: directives, then one instruction a line with its slot in a comment.

    Every bit is written, none is left to be set automatically, so `assemble` gives an equal executable.
    """
    language = next(each for each in LANGUAGES.values() if each.kind == executable.kind)
    return language.disassemble(executable)
