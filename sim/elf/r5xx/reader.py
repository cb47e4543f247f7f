"""Reads a program from an ELF file, with the checks of the machine's loader and some for people.

Source: CTM Guide pp. 45-49; docs/architecture.md, Executables.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.common.utils import struct_parse
from elftools.elf.elffile import ELFFile

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION, UMRT, US_CODE_ADDR, US_CODE_OFFSET, US_PIXSIZE
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import Notes

_HEADER_FIELDS = {
    "EI_VERSION": ("EV_CURRENT", 6),
    "EI_OSABI": (elf.ELFOSABI_ATI, 7),
    "EI_ABIVERSION": (elf.ABI_VERSION, 8),
    "e_type": ("ET_EXEC", 16),
    "e_machine": (elf.EM_ATI_R5XX, 18),
    "e_flags": (elf.EF_ATI_DPP, 36),
    "e_phentsize": (elf.PROGRAM_HEADER_BYTES, 42),
}
"""Header field -> the only value it may have, as pyelftools names it, and the field's offset."""

_LISTS = {
    elf.NoteType.INPUTS: "inputs",
    elf.NoteType.OUTPUTS: "outputs",
    elf.NoteType.FLOAT32_CONSTANTS: "float_constants",
    elf.NoteType.INT32_CONSTANTS: "int_constants",
}
_FLAGS = {
    elf.NoteType.CONDITIONAL_OUTPUT: "conditional_output",
    elf.NoteType.EARLY_EXIT: "early_exit",
}


class _Segment(NamedTuple):
    offset: int
    size: int


class _Note(NamedTuple):
    offset: int
    words: tuple[int, ...]


def read(data: bytes) -> Executable:
    """Read a DPP executable.

    Raises
    ------
    ElfError
        The file is malformed; the machine would not load it, or its notes make no sense.
    """
    file = _file(data)
    code: _Segment | None = None
    notes: dict[elf.NoteType, _Note] = {}
    for header_at, kind, segment in _segments(file, data):
        if kind == "PT_LOAD":
            if code is not None:
                raise ElfError("a second code segment (PT_LOAD)", header_at)
            code = segment
        elif kind == "PT_NOTE":
            _collect(notes, data, segment)
    if code is None:
        raise ElfError("no code segment (PT_LOAD) in the program headers", file["e_phoff"])
    words = _information(notes)
    address = unpack(US_CODE_ADDR, words["US_CODE_ADDR"])
    return Executable(
        instructions=_instructions(data, code),
        start=address["start"],
        end=address["end"],
        offset=unpack(US_CODE_OFFSET, words["US_CODE_OFFSET"])["offset"],
        highest_temporary=unpack(US_PIXSIZE, words["US_PIXSIZE"])["highest_temporary"],
        fg_depth_src=words["FG_DEPTH_SRC"],
        us_config=words["US_CONFIG"],
        us_fc_ctrl=words["US_FC_CTRL"],
        us_w_fmt=words["US_W_FMT"],
        uncached_writes=bool(unpack(UMRT, words["UMRT"])["uncached_writes"]),
        notes=_notes(notes),
    )


def _check_inside(data: bytes, offset: int, size: int, what: str) -> None:
    limit = min(len(data), PROGRAM_FORMAT.image_limit)
    if offset % 4:
        raise ElfError(f"{what} does not start at a multiple of 4", offset)
    if offset + size > limit:
        raise ElfError(f"{what} of {size} bytes reaches past the end of the image at 0x{limit:x}", offset)


def _file(data: bytes) -> ELFFile:
    if len(data) < elf.ELF_HEADER_BYTES:
        raise ElfError(f"the file has {len(data)} bytes, fewer than an ELF header", len(data))
    try:
        file = ELFFile(BytesIO(data))
    except ELFError as error:
        raise ElfError(f"no ELF file: {error}", 0) from None
    if file.elfclass != 32 or not file.little_endian:
        raise ElfError("the file is not of class ELFCLASS32 with data encoding ELFDATA2LSB", 4)
    for name, (wanted, offset) in _HEADER_FIELDS.items():
        found = (file["e_ident"] if name.startswith("EI_") else file)[name]
        if found != wanted:
            raise ElfError(f"{name} is {found} instead of {wanted}", offset)
    if file["e_shnum"]:
        size = file["e_shnum"] * file["e_shentsize"]
        if file["e_shoff"] + size > len(data):
            raise ElfError(f"the section headers ({size} bytes) reach past the end of the file", file["e_shoff"])
    return file


def _segments(file: ELFFile, data: bytes) -> Iterator[tuple[int, str | int, _Segment]]:
    """Yield (offset of the program header, type, segment)."""
    for index in range(file["e_phnum"]):
        offset = file["e_phoff"] + index * elf.PROGRAM_HEADER_BYTES
        _check_inside(data, offset, elf.PROGRAM_HEADER_BYTES, f"program header {index}")
        header = struct_parse(file.structs.Elf_Phdr, file.stream, stream_pos=offset)
        yield offset, header["p_type"], _Segment(header["p_offset"], header["p_filesz"])


def _instructions(data: bytes, code: _Segment) -> tuple[Instruction, ...]:
    count, rest = divmod(code.size, INSTRUCTION_BYTES)
    if rest or not 1 <= count <= INSTRUCTION_SLOTS:
        raise ElfError(f"{code.size} bytes of code are not 1 to {INSTRUCTION_SLOTS} instructions", code.offset)
    _check_inside(data, code.offset, code.size, "the code segment")
    words = struct.unpack_from(f"<{count * INSTRUCTION_WORDS}I", data, code.offset)
    return tuple(words[at : at + INSTRUCTION_WORDS] for at in range(0, len(words), INSTRUCTION_WORDS))


def _collect(notes: dict[elf.NoteType, _Note], data: bytes, segment: _Segment) -> None:
    """Add the notes of one note segment that are the DPP's and that are known."""
    _check_inside(data, segment.offset, segment.size, "the note segment")
    offset, end = segment.offset, segment.offset + segment.size
    known = {kind.value: kind for kind in elf.NoteType}
    while offset < end:
        if offset + elf.NOTE_HEADER_BYTES > end:
            raise ElfError("a note's header reaches past the end of its segment", offset)
        name_size, descriptor_size, kind = struct.unpack_from("<3I", data, offset)
        name_at = offset + elf.NOTE_HEADER_BYTES
        descriptor_at = name_at + _padded(name_size)
        following = descriptor_at + _padded(descriptor_size)
        if following > end:
            raise ElfError("a note reaches past the end of its segment", offset)
        if data[name_at : name_at + name_size] == elf.NOTE_NAME and kind in known:
            if known[kind] in notes:
                raise ElfError(f"a second note {known[kind].name}", offset)
            if descriptor_size % 4:
                raise ElfError(f"the note {known[kind].name} has {descriptor_size} bytes, not whole words", offset)
            words = struct.unpack_from(f"<{descriptor_size // 4}I", data, descriptor_at)
            notes[known[kind]] = _Note(offset, words)
        offset = following


def _padded(size: int) -> int:
    return size + 3 & ~3


def _information(notes: Mapping[elf.NoteType, _Note]) -> Mapping[str, int]:
    """The words of the program information by name."""
    note = notes.get(elf.NoteType.PROGRAM_INFORMATION)
    if note is None:
        raise ElfError("no program information note", 0)
    if len(note.words) != elf.PROGRAM_INFORMATION_WORDS:
        raise ElfError(f"the program information has {len(note.words)} words instead of 16", note.offset)
    words = dict(zip(PROGRAM_INFORMATION, note.words, strict=True))
    if words["version"] != PROGRAM_FORMAT.version:
        raise ElfError(f"word 0 of the program information is {words['version']} instead of 1", note.offset)
    return words


def _notes(found: Mapping[elf.NoteType, _Note]) -> Notes:
    notes = Notes()
    for kind, note in found.items():
        change: dict[str, Any] = {}
        if kind in _LISTS:
            change = {_LISTS[kind]: note.words}
        elif kind in _FLAGS:
            if len(note.words) != 1 or note.words[0] > 1:
                raise ElfError(f"the note {kind.name} is not one word, 0 or 1", note.offset)
            change = {_FLAGS[kind]: bool(note.words[0])}
        try:
            notes = replace(notes, **change)
        except ValueError as error:
            raise ElfError(f"in the note {kind.name}: {error}", note.offset) from None
    return notes
