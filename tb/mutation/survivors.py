"""The table of mutants that no test finds, and why that is right: ``survivors.toml``.

A row names mutants by their file, the text of their line, what is changed, and the indices of those with the same text
and change, by default the first. So it is kept when lines move.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ctm.tb.mutation.mutants import Mutant

TABLE = Path(__file__).with_name("survivors.toml")
_NEEDED = {"line", "changes", "reason"}


@dataclass(frozen=True)
class Row:
    """Accepted survivors: those of `file` in lines of this text; `indices` are those of `Mutant`."""

    file: str
    line: str
    changes: tuple[str, ...]
    indices: tuple[int, ...]
    reason: str

    def accepts(self, mutant: Mutant) -> bool:
        """Whether it names a mutant."""
        file, line, change, index = mutant.key
        return (file, line) == (self.file, self.line) and change in self.changes and index in self.indices


def read(table: Path = TABLE) -> list[Row]:
    """The rows of a table.

    Raises
    ------
    ValueError
        A row has no reason, or another key than there are.
    """
    rows = []
    for file, entries in tomllib.loads(table.read_text()).items():
        for entry in entries:
            if not _NEEDED <= entry.keys() <= _NEEDED | {"indices"}:
                raise ValueError(f"{table}: a row of {file} has the keys {', '.join(entry)}")
            if not entry["reason"].strip():
                raise ValueError(f"{table}: {entry['line']!r} has no reason")
            changes = tuple(entry["changes"])
            rows.append(Row(file, entry["line"], changes, tuple(entry.get("indices", [1])), entry["reason"]))
    return rows


def accepted(mutant: Mutant, rows: Iterable[Row]) -> Row | None:
    """The row that names a mutant."""
    return next((row for row in rows if row.accepts(mutant)), None)


def draft(mutant: Mutant) -> str:
    """A mutant as a row without a reason."""
    file, line, change, index = mutant.key
    return f'[["{file}"]]\nline = {_text(line)}\nchanges = [{_text(change)}]\nindices = [{index}]\nreason = ""\n'


def _text(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
