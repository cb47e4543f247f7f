"""Line tables: which line of which source file each unit of a program's code comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.sim.elf.container.reader import Note
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.error import ElfError

_VERSION = 1
_UNIT_BITS = 16


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Lines:
    """The line of each unit of code, None where there is none.

    As a note: version, number of rows, then for each row two words, the first unit (16 bits) with the number of a file
    (16 bits) above it, and the line, 0 for none; at the end the files' names, each ended by a zero byte.
    """

    units: tuple[Line | None, ...]

    @property
    def words(self) -> tuple[int, ...]:
        """The descriptor of the note."""
        files = list(dict.fromkeys(line.file for line in self.units if line))
        rows: list[int] = []
        for line, run in groupby(enumerate(self.units), lambda each: each[1]):
            first = next(run)[0]
            rows += [first | files.index(line.file) << _UNIT_BITS, line.line] if line else [first, 0]
        names = b"".join(name.encode() + b"\0" for name in files)
        names += bytes(-len(names) % WORD_BYTES)
        text = (int.from_bytes(names[at : at + WORD_BYTES], "little") for at in range(0, len(names), WORD_BYTES))
        return _VERSION, len(rows) // 2, *rows, *text


def lines_of(notes: Mapping[NoteType | ToolNote, Note], units: int) -> Lines | None:
    """The line table among the notes of a program of `units` units; None if there is none.

    Raises
    ------
    ElfError
        It is malformed.
    """
    note = notes.get(ToolNote.LINES)
    if note is None:
        return None
    try:
        return Lines(tuple(_units(note.words, units)))
    except (ValueError, IndexError):
        raise ElfError("the table of source lines is malformed", note.offset) from None


def _units(words: Sequence[int], units: int) -> list[Line | None]:
    version, count = words[:2]
    rows, text = words[2 : 2 + 2 * count], words[2 + 2 * count :]
    if version != _VERSION or len(rows) != 2 * count:
        raise ValueError
    names = b"".join(word.to_bytes(WORD_BYTES, "little") for word in text).decode().split("\0")
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    places = [Line(names[start >> _UNIT_BITS], line) if line else None for start, line in pairs]
    starts = [start & (1 << _UNIT_BITS) - 1 for start, _ in pairs]
    if starts != sorted(set(starts)) or starts[:1] != [0] * bool(units) or any(start >= units for start in starts):
        raise ValueError
    found: list[Line | None] = []
    for place, start, end in zip(places, starts, [*starts[1:], units], strict=True):
        found += [place] * (end - start)
    return found
