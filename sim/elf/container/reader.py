"""The ELF file around a program of any kind: its code segment and notes, with the checks of the machine's loader.

What tells one kind of program from another is in `PROGRAM_FORMATS`. Source: CTM Guide pp. 45-49;
docs/design/choices.md, Executables.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.common.utils import struct_parse
from elftools.elf.elffile import ELFFile

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import NoteType, ProgramFormat
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.sim.elf.container.tool_notes import TOOL_NAME, ToolNote
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.whole import check_whole

_MACHINE = "e_machine"
_HEADER_FIELDS = {
    "EI_VERSION": ("EV_CURRENT", 6),
    "EI_OSABI": (elf.ELFOSABI_ATI, 7),
    "EI_ABIVERSION": (elf.ABI_VERSION, 8),
    "e_type": ("ET_EXEC", 16),
    _MACHINE: (None, 18),
    "e_flags": (elf.EF_ATI_DPP, 36),
    "e_phentsize": (elf.PROGRAM_HEADER_BYTES, 42),
}
"""Header field -> the only value it may have, as pyelftools names it, and the field's offset.

The machine may be that of any kind of program.
"""


_KNOWN: dict[tuple[bytes, int], NoteType | ToolNote] = {
    **{(elf.NOTE_NAME, kind.value): kind for kind in NoteType},
    **{(TOOL_NAME, kind.value): kind for kind in ToolNote},
}
"""Notes by name and type."""


class Note(NamedTuple):
    """The words of a note's descriptor, and where the note is in the file."""

    offset: int
    words: tuple[int, ...]


class _Segment(NamedTuple):
    offset: int
    size: int


@dataclass(frozen=True, kw_only=True)
class Container:
    """What is in an executable."""

    kind: str
    """The instruction set that it is for, as `PROGRAM_FORMATS` has it."""
    code: tuple[tuple[int, ...], ...]
    """The words of each unit."""
    information: tuple[int, ...]
    """The words of the program information."""
    notes: Mapping[NoteType | ToolNote, Note]
    """All notes that are the DPP's or of tools, and that are known."""


def read_container(data: bytes) -> Container:
    """Read an executable of any kind.

    Raises
    ------
    ElfError
        The file is malformed; the machine would not load it.
    """
    file = _file(data)
    # Which limit the image has is known only when the program information was found.
    largest = max(known.image_limit for known in PROGRAM_FORMATS.values())
    _, notes = _segment_and_notes(file, data, largest)
    kind = _kind(notes, file[_MACHINE])
    program_format = PROGRAM_FORMATS[kind]
    code, notes = _segment_and_notes(file, data, program_format.image_limit)
    information = _information(notes[program_format.information], program_format)
    return Container(kind=kind, code=_code(data, code, program_format), information=information, notes=notes)


def _file(data: bytes) -> ELFFile:
    check_whole(data)
    try:
        file = ELFFile(BytesIO(data))
    except ELFError as error:
        raise ElfError(f"no ELF file: {error}", 0) from None
    if file.elfclass != 32 or not file.little_endian:
        raise ElfError("the file is not of class ELFCLASS32 with data encoding ELFDATA2LSB", 4)
    machines = sorted({known.machine for known in PROGRAM_FORMATS.values()})
    for name, (value, offset) in _HEADER_FIELDS.items():
        allowed = machines if name == _MACHINE else [value]
        found = (file["e_ident"] if name.startswith("EI_") else file)[name]
        if found not in allowed:
            raise ElfError(f"{name} is {found} instead of {' or '.join(map(str, allowed))}", offset)
    return file


def _segment_and_notes(file: ELFFile, data: bytes, limit: int) -> tuple[_Segment, dict[NoteType | ToolNote, Note]]:
    """The code segment, and the notes; headers and notes end before `limit`."""
    code: _Segment | None = None
    notes: dict[NoteType | ToolNote, Note] = {}
    for header_at, kind, segment in _segments(file, data, limit):
        if kind == "PT_LOAD":
            if code is not None:
                raise ElfError("a second code segment (PT_LOAD)", header_at)
            code = segment
        elif kind == "PT_NOTE":
            _check_inside(data, limit, segment, "the note segment")
            _collect(notes, data, segment)
    if code is None:
        raise ElfError("no code segment (PT_LOAD) in the program headers", file["e_phoff"])
    return code, notes


def _check_inside(data: bytes, limit: int, segment: _Segment, what: str) -> None:
    end = segment.offset + segment.size
    if segment.offset % 4:
        raise ElfError(f"{what} does not start at a multiple of 4", segment.offset)
    if end > limit:
        raise ElfError(
            f"{what} of {segment.size} bytes reaches past the end of the image at 0x{limit:x}", segment.offset
        )
    if end > len(data):
        raise ElfError(
            f"{what} ends at 0x{end:x}, and the file, which is truncated, at 0x{len(data):x}", segment.offset
        )


def _segments(file: ELFFile, data: bytes, limit: int) -> Iterator[tuple[int, str | int, _Segment]]:
    """Yield (offset of the program header, type, segment)."""
    for index in range(file["e_phnum"]):
        header_at = _Segment(file["e_phoff"] + index * elf.PROGRAM_HEADER_BYTES, elf.PROGRAM_HEADER_BYTES)
        _check_inside(data, limit, header_at, f"program header {index}")
        header = struct_parse(file.structs.Elf_Phdr, file.stream, stream_pos=header_at.offset)
        yield header_at.offset, header["p_type"], _Segment(header["p_offset"], header["p_filesz"])


def _collect(notes: dict[NoteType | ToolNote, Note], data: bytes, segment: _Segment) -> None:
    """Add the notes of one note segment that are known."""
    offset, end = segment.offset, segment.offset + segment.size
    while offset < end:
        if offset + elf.NOTE_HEADER_BYTES > end:
            raise ElfError("a note's header reaches past the end of its segment", offset)
        name_size, descriptor_size, kind = struct.unpack_from("<3I", data, offset)
        name_at = offset + elf.NOTE_HEADER_BYTES
        descriptor_at = name_at + _padded(name_size)
        following = descriptor_at + _padded(descriptor_size)
        if following > end:
            raise ElfError("a note reaches past the end of its segment", offset)
        known = _KNOWN.get((data[name_at : name_at + name_size], kind))
        if known is not None:
            if known in notes:
                raise ElfError(f"a second note {known.name}", offset)
            if descriptor_size % 4:
                raise ElfError(f"the note {known.name} has {descriptor_size} bytes, not whole words", offset)
            words = struct.unpack_from(f"<{descriptor_size // 4}I", data, descriptor_at)
            notes[known] = Note(offset, words)
        offset = following


def _padded(size: int) -> int:
    return size + 3 & ~3


def _kind(notes: Mapping[NoteType | ToolNote, Note], machine: int) -> str:
    """The kind of program whose program information is there."""
    kinds = [kind for kind, known in PROGRAM_FORMATS.items() if known.machine == machine and known.information in notes]
    if not kinds:
        raise ElfError("no program information note", 0)
    if len(kinds) > 1:
        second = notes[PROGRAM_FORMATS[kinds[1]].information]
        raise ElfError(f"program information of several kinds: {', '.join(kinds)}", second.offset)
    return kinds[0]


def _information(note: Note, program_format: ProgramFormat) -> tuple[int, ...]:
    if len(note.words) != elf.PROGRAM_INFORMATION_WORDS:
        raise ElfError(f"the program information has {len(note.words)} words instead of 16", note.offset)
    version = note.words[0]
    if version != program_format.version:
        raise ElfError(
            f"word 0 of the program information is {version} instead of {program_format.version}", note.offset
        )
    return note.words


def _code(data: bytes, code: _Segment, program_format: ProgramFormat) -> tuple[tuple[int, ...], ...]:
    count, remainder = divmod(code.size, program_format.unit_bytes)
    if remainder or not 1 <= count <= program_format.most_units:
        raise ElfError(f"{code.size} bytes of code are not 1 to {program_format.most_units} instructions", code.offset)
    _check_inside(data, program_format.image_limit, code, "the code segment")
    unit_words = program_format.unit_bytes // WORD_BYTES
    words = struct.unpack_from(f"<{count * unit_words}I", data, code.offset)
    return tuple(words[at : at + unit_words] for at in range(0, len(words), unit_words))
