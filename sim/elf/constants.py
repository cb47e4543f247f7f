"""Constants that a program brings along: numbers of a kernel that do not fit its instructions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.sim.elf.container.reader import Note
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.error import ElfError


@dataclass(frozen=True)
class OwnConstants:
    """Words of float constants and of int constants by index.

    As a note: how many float constants there are, then for each its index and four words; then for each int constant
    its index and its word.
    """

    floats: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    ints: Mapping[int, int] = field(default_factory=dict)

    @property
    def words(self) -> tuple[int, ...]:
        """The descriptor of the note."""
        floats = (word for index in sorted(self.floats) for word in (index, *self.floats[index]))
        ints = (word for index in sorted(self.ints) for word in (index, self.ints[index]))
        return len(self.floats), *floats, *ints


def constants_of(notes: Mapping[NoteType | ToolNote, Note]) -> OwnConstants:
    """The constants among the notes of a program.

    Raises
    ------
    ElfError
        They are malformed.
    """
    note = notes.get(ToolNote.CONSTANTS)
    if note is None:
        return OwnConstants()
    try:
        return _constants(note.words)
    except (ValueError, IndexError):
        raise ElfError("the table of constants is malformed", note.offset) from None


def _constants(words: Sequence[int]) -> OwnConstants:
    end = 1 + (1 + CHANNELS) * words[0]
    floats = {row[0]: row[1:] for row in _rows(words[1:end], 1 + CHANNELS, FLOAT_CONSTANTS)}
    ints = {row[0]: row[1] for row in _rows(words[end:], 2, INT_CONSTANTS)}
    if len(floats) != words[0] or end > len(words):
        raise ValueError
    return OwnConstants(floats, ints)


def _rows(words: Sequence[int], size: int, limit: int) -> Iterator[tuple[int, ...]]:
    if len(words) % size:
        raise ValueError
    for at in range(0, len(words), size):
        if words[at] >= limit:
            raise ValueError
        yield tuple(words[at : at + size])
