"""The languages, and their functions for users; docs/assembler.md and docs/assembler-r700.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from ctm.sim.assembler.error import AssemblyError, Diagnostic
from ctm.sim.assembler.listing import Listing
from ctm.sim.elf import Executable
from ctm.sim.elf.r5xx.executable import Executable as R5xxExecutable
from ctm.sim.elf.r700.executable import Executable as R700Executable


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
        Writes a program as a text that assembles to an equal one; see the function of this name.
    statements
        The text of each instruction, by the slot or unit of code at which it begins.
    """

    name: str
    kind: str
    assemble: Callable[[str, str], Listing[Executable]]
    disassemble: Callable[..., str]
    statements: Callable[[Any], dict[int, str]]


def _call(module: str, name: str, *arguments: Any, **named: Any) -> Any:
    """Call a function of a language, which is imported now, so that a user of one need not wait for the others."""
    return getattr(import_module(f"ctm.sim.assembler.{module}"), name)(*arguments, **named)


def _language(name: str, kind: str) -> Language:
    return Language(
        name=name,
        kind=kind,
        assemble=partial(_call, f"{name}.program", "assemble"),
        disassemble=partial(_call, f"{name}.printer.disassembler", "disassemble"),
        statements=partial(_call, f"{name}.printer.disassembler", "statements"),
    )


_R5XX = _language("r5xx", R5xxExecutable.kind)
_R700 = _language("r700", R700Executable.kind)
LANGUAGES = {language.name: language for language in (_R5XX, _R700)}

_BLANK = r"[ \t\r\f\v]*"
_ISA = re.compile(rf"(?:{_BLANK}(?:;[^\n]*)?\n)*{_BLANK}\.isa{_BLANK}([^\s;]*)", re.IGNORECASE)
"""The first statement of a text, if it says the language."""


def assemble(source: str, *, name: str = "<source>", language: str | None = None) -> Executable:
    """Assemble a program; `name` is the file in messages and in the line table.

    The language, if none is named, is the one that the text's first statement says, as in `.isa r700`; else R5xx.

    Raises
    ------
    AssemblyError
        With every error of the text that could be told, at most MOST_ERRORS.
    """
    return assemble_listing(source, name=name, language=language).executable


def assemble_listing(source: str, *, name: str = "<source>", language: str | None = None) -> Listing[Executable]:
    """As `assemble`, with the lines that the instructions come from."""
    if not isinstance(source, str):
        raise TypeError(f"a source is a str, and not {type(source).__name__}")
    if language is None:
        language = language_of(source, name)
    if language not in LANGUAGES:
        raise ValueError(f"there is no language {language!r}; there is: {', '.join(LANGUAGES)}")
    return LANGUAGES[language].assemble(source, name)


def disassemble(executable: Executable, *, sources: bool = False) -> str:
    """The program as text: directives, then one instruction a line with its slot or address in a comment.

    Every bit is written, none is left to be set automatically, so `assemble` gives an equal executable with an equal
    line table. With `sources`, lines of the sources whose text is at hand stand above their instructions in comments.
    """
    return _of(executable).disassemble(executable, sources=sources)


def statements(executable: Executable) -> dict[int, str]:
    """The text of each instruction, by the slot or unit of code at which it begins."""
    return _of(executable).statements(executable)


def _of(executable: Executable) -> Language:
    return next(each for each in LANGUAGES.values() if each.kind == executable.kind)


def language_of(source: str, name: str) -> str:
    """The language that a text says; else R5xx. `name` is its file in messages.

    Raises
    ------
    AssemblyError
        There is no such language.
    """
    said = _ISA.match(source)
    if said is None:
        return _R5XX.name
    if said[1].lower() in LANGUAGES:
        return said[1].lower()
    line = source.count("\n", 0, said.start(1)) + 1
    column = said.start(1) - source.rfind("\n", 0, said.start(1))
    message = f"there is no instruction set {said[1]!r}; there is: {', '.join(LANGUAGES)}"
    raise AssemblyError([Diagnostic(name, line, column, message, source.split("\n")[line - 1].rstrip("\r"))])
