"""What an assembler gives: an executable with the lines that it comes from, or all errors of the text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ctm.sim.assembler.error import AssemblyError, Diagnostic, Report, SourceError
from ctm.sim.assembler.origins import Origins
from ctm.sim.elf import Executable
from ctm.sim.elf.sources import with_lines

MOST_ERRORS = 100
"""Errors of a text after which its remainder is not checked: it is likely no source at all."""

_Parsed = TypeVar("_Parsed")
_Program = TypeVar("_Program", covariant=True)
_Executable = TypeVar("_Executable", bound=Executable)


class _EnoughError(Exception):
    """There are MOST_ERRORS."""


@dataclass(frozen=True)
class Listing(Generic[_Program]):
    """An executable of any kind, and the line of the text of each of its instructions, or of each unit of its code.

    The executable's own table says the same, where the text does not say that its code comes from elsewhere.
    """

    executable: _Program
    lines: tuple[int, ...]


def with_table(linked: Listing[_Executable], origins: Origins, name: str, text: str) -> Listing[_Executable]:
    """The listing with a line table in its executable; the text is in file `name`, and says `origins` of its code."""
    return Listing(with_lines(linked.executable, origins.table(linked.lines, name, text)), linked.lines)


def listing(
    source: str, name: str, parse: Callable[[str, Report], _Parsed], link: Callable[[_Parsed], Listing[_Program]]
) -> Listing[_Program]:
    """Parse a text, and link what was parsed if there are no errors; `name` is the file in messages.

    Raises
    ------
    AssemblyError
        With all errors that `parse` reported or either raised, at most MOST_ERRORS.
    """
    errors: list[SourceError] = []

    def report(error: SourceError) -> None:
        errors.append(error)
        if len(errors) == MOST_ERRORS:
            raise _EnoughError

    try:
        parsed = parse(source, report)
        if not errors:
            return link(parsed)
    except SourceError as error:
        errors.append(error)
    except _EnoughError:
        pass
    lines = source.split("\n")
    errors.sort(key=lambda error: (error.position.line, error.position.column))
    raise AssemblyError([_diagnostic(name, error, lines) for error in errors])


def _diagnostic(name: str, error: SourceError, lines: list[str]) -> Diagnostic:
    position = error.position
    return Diagnostic(name, position.line, position.column, error.message, lines[position.line - 1].rstrip("\r"))
