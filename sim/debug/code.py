"""The code of a program as people read it: instructions, source lines."""

from functools import cached_property
from typing import Any

from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable
from ctm.sim.elf.lines import Line
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.elf.sources import with_texts

_PROLOGUE = "(prologue: inputs of the pixel program)"
_WITHOUT_LINE = "(no source line)"


class Code:
    """The code of one program; `name` is its file's."""

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

    def label(self, unit: int) -> str:
        """What an instruction without a source line is; "" if it has one, or the program has none at all.

        The prologue of a draw's pixel program is its start, after the code of all programs.
        """
        if self.executable.lines is None or self.line(unit) is not None:
            return ""
        is_drawn = isinstance(self.executable, R700Executable) and self.executable.pipeline is not None
        return _PROLOGUE if is_drawn and unit >= self.executable.start else _WITHOUT_LINE

    def source(self, line: Line) -> str:
        """The text of a source line; "" where the source is not there."""
        rows = self.files.get(line.file, "").splitlines()
        return rows[line.line - 1] if 0 < line.line <= len(rows) else ""
