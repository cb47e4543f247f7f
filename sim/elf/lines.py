"""Line tables: which line of which source file each unit of a program's code comes from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.sim.elf.container.reader import Note
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.error import ElfError

_PLAIN, _WITH_CHECKSUMS = 1, 2
"""Versions of the note."""
_UNIT_BITS = 16


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        # In a comment, or on a terminal, there is nothing but letters.
        file = "".join(each if each.isprintable() else "?" for each in self.file)
        return f"{file}:{self.line}"


@dataclass(frozen=True)
class Lines:
    """The line of each unit of code, None where there is none.

    `checksums` are those of files' texts where they are known, see `checksum`; `texts` the texts themselves, which no
    file of a program holds.
    As a note: version, number of rows, then for each row two words, the first unit (16 bits) with the number of a file
    (16 bits) above it, and the line, 0 for none. In version 2 there follow the number of files and for each its
    checksum, 0 for none. At the end the files' names, each ended by a zero byte.
    """

    units: tuple[Line | None, ...]
    checksums: Mapping[str, int] = field(default_factory=dict, hash=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in the order of their first units."""
        return tuple(dict.fromkeys(line.file for line in self.units if line))

    @property
    def words(self) -> tuple[int, ...]:
        """The descriptor of the note."""
        files = self.files
        numbers = {file: number for number, file in enumerate(files)}
        rows: list[int] = []
        for line, run in groupby(enumerate(self.units), lambda each: each[1]):
            first = next(run)[0]
            rows += [first | numbers[line.file] << _UNIT_BITS, line.line] if line else [first, 0]
        names = b"".join(name.encode() + b"\0" for name in files)
        names += bytes(-len(names) % WORD_BYTES)
        text = (int.from_bytes(names[at : at + WORD_BYTES], "little") for at in range(0, len(names), WORD_BYTES))
        checksums = [self.checksums.get(file, 0) for file in files]
        if not any(checksums):
            return _PLAIN, len(rows) // 2, *rows, *text
        return _WITH_CHECKSUMS, len(rows) // 2, *rows, len(files), *checksums, *text

    def at(self, unit: int) -> Line | None:
        """The line of a unit; None for one that is none of the code's."""
        return self.units[unit] if 0 <= unit < len(self.units) else None

    def extended(self, units: int) -> "Lines":
        """The table of code that has become longer, to so many units."""
        return replace(self, units=(*self.units, *[None] * (units - len(self.units))))

    def renamed(self, name: Callable[[str], str]) -> "Lines":
        """The same with other names of files."""
        names = {file: name(file) for file in {*self.files, *self.checksums, *self.texts}}
        return Lines(
            units=tuple(line and Line(names[line.file], line.line) for line in self.units),
            checksums={names[file]: value for file, value in self.checksums.items()},
            texts={names[file]: text for file, text in self.texts.items()},
        )


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
        return _lines(note.words, units)
    except (ValueError, IndexError):
        raise ElfError("the table of source lines is malformed", note.offset) from None


def _lines(words: Sequence[int], units: int) -> Lines:
    version, count = words[:2]
    rows, text = words[2 : 2 + 2 * count], words[2 + 2 * count :]
    if version not in (_PLAIN, _WITH_CHECKSUMS) or len(rows) != 2 * count:
        raise ValueError
    checksums: Sequence[int] = ()
    if version == _WITH_CHECKSUMS:
        checksums, text = text[1 : 1 + text[0]], text[1 + text[0] :]
    names = b"".join(word.to_bytes(WORD_BYTES, "little") for word in text).decode().split("\0")
    known = {name: value for name, value in zip(names, checksums, strict=False) if value}
    return Lines(tuple(_units(rows, names, units)), known)


def _units(rows: Sequence[int], names: Sequence[str], units: int) -> list[Line | None]:
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    line_of_run = [Line(names[start >> _UNIT_BITS], line) if line else None for start, line in pairs]
    starts = [start & (1 << _UNIT_BITS) - 1 for start, _ in pairs]
    if starts != sorted(set(starts)) or starts[:1] != [0] * bool(units) or any(start >= units for start in starts):
        raise ValueError
    found: list[Line | None] = []
    for line, start, end in zip(line_of_run, starts, [*starts[1:], units], strict=True):
        found += [line] * (end - start)
    return found
