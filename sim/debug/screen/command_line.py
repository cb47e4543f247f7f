"""The command line below, with the lines that were entered before."""

from textual.binding import Binding
from textual.widgets import Input


class CommandLine(Input):
    """Takes a line; up and down recall earlier ones, Escape leaves it."""

    BINDINGS = [
        Binding("up", "recall(-1)", "Earlier", show=False),
        Binding("down", "recall(1)", "Later", show=False),
    ]

    def __init__(self, id: str) -> None:
        super().__init__(placeholder="a command, as `break 22 if i > 100`; `help` lists them", id=id, compact=True)
        self._lines: list[str] = []
        self._at = 0

    def taken(self) -> str:
        """The line, which is kept and gone from here."""
        line = self.value.strip()
        self.value = ""
        if line and self._lines[-1:] != [line]:
            self._lines.append(line)
        self._at = len(self._lines)
        return line

    def action_recall(self, lines: int) -> None:
        """Show an earlier line, or a later one."""
        self._at = max(0, min(self._at + lines, len(self._lines)))
        self.value = self._lines[self._at] if self._at < len(self._lines) else ""
        self.cursor_position = len(self.value)
