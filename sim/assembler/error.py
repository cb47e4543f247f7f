"""Errors of a source text, with their position in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """A position in a source text; line and column count from 1."""

    line: int
    column: int


class SourceError(Exception):
    """One error, raised and caught inside the assembler."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


Report = Callable[[SourceError], None]
"""Takes note of an error, so that the remaining text can be checked."""


_SHOWN = 200
"""Most characters that are shown of a line."""


@dataclass(frozen=True)
class Diagnostic:
    """One error of a source text; `str` gives the line, or what of a long one is around it, with a caret under it."""

    file: str
    line: int
    column: int
    message: str
    source_line: str

    def __str__(self) -> str:
        at, whole = self.column - 1, self.source_line
        first = 0 if len(whole) <= _SHOWN else max(0, at - _SHOWN // 2)
        text = "".join(
            each if each == "\t" or each.isprintable() else "\ufffd" for each in whole[first : first + _SHOWN]
        )
        margin = "".join("\t" if each == "\t" else " " for each in text[: at - first])
        return f"{self.file}:{self.line}:{self.column}: {self.message}\n{text}\n{margin}^"


class AssemblyError(Exception):
    """A source text that cannot be assembled: every error that was found, in the order of the text.

    `file`, `line`, `column` and `message` are those of the first.
    """

    def __init__(self, errors: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = tuple(errors)
        self.file = errors[0].file
        self.line = errors[0].line
        self.column = errors[0].column
        self.message = errors[0].message
