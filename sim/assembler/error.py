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


@dataclass(frozen=True)
class Diagnostic:
    """One error of a source text; `str` gives the line with a caret under the position."""

    file: str
    line: int
    column: int
    message: str
    source_line: str

    def __str__(self) -> str:
        margin = "".join("\t" if character == "\t" else " " for character in self.source_line[: self.column - 1])
        return f"{self.file}:{self.line}:{self.column}: {self.message}\n{self.source_line}\n{margin}^"


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
