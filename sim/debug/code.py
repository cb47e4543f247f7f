"""The code of a program as people read it: instructions, source lines."""

from functools import cached_property
from typing import Any

from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable
from ctm.sim.elf.lines import Line
from ctm.sim.elf.sources import with_texts


class Code:
    """A program's; `name` is that of its file."""

    def __init__(self, name: str, executable: Executable) -> None:
        self.name = name
        self.executable: Any = with_texts(executable)

    @cached_property
    def texts(self) -> dict[int, str]:
        """The text of each instruction, by the unit of code at which it begins, ascending."""
        return dict(sorted(statements(self.executable).items()))

    @property
    def units(self) -> list[int]:
        """Units at which instructions begin."""
        return list(self.texts)

    @property
    def files(self) -> dict[str, str]:
        """The texts of sources that are there."""
        return {} if self.executable.lines is None else dict(self.executable.lines.texts)

    def line(self, unit: int) -> Line | None:
        """The source line of a unit, None where that is not known."""
        found: Line | None = None if self.executable.lines is None else self.executable.lines.at(unit)
        return found

    def source(self, line: Line) -> str:
        """The text of a source line; "" where the source is not there."""
        rows = self.files.get(line.file, "").splitlines()
        return rows[line.line - 1] if 0 < line.line <= len(rows) else ""
