"""Errors of kernels, with their locations in the source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Location(NamedTuple):
    """A location in a source file; line and column count from 1, 0 where they are unknown."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        """The location as compilers write it."""
        return ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)])


@dataclass(frozen=True)
class Diagnostic:
    """A message about a location in a source."""

    location: Location
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


class KernelError(Exception):
    """A kernel that cannot be compiled: all that was found, in the order in which it was found."""

    def __init__(self, errors: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)


class BackEndLimitError(KernelError):
    """A back end could not compile a legal kernel; optimised with other flags the kernel may compile."""


class BackEndError(Exception):
    """LLVM's back end failed; `location` is where it said that it did, if it said so."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
