"""Writes the ELF file around a program of any kind.

The file is also the image that the machine's loader reads: ELF header, two program headers, code, notes; then what only
tools look at: section names and section headers. Source: CTM Guide pp. 45-49.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import NoteType
from ctm.sim.elf.container.tool_notes import TOOL_NAME, ToolNote

_EHDR = struct.Struct("<4s5B7xHHIIIIIHHHHHH")
_PHDR = struct.Struct("<8I")
_SHDR = struct.Struct("<10I")

_SHT_PROGBITS, _SHT_STRTAB, _SHT_NOTE = 1, 3, 7
_SHF_ALLOC, _SHF_EXECINSTR = 2, 4
_PF_EXECUTE, _PF_READ = 1, 4
_ALIGNMENT = 4
_PROGRAM_HEADERS = 2
_HEADERS = elf.ELF_HEADER_BYTES + _PROGRAM_HEADERS * elf.PROGRAM_HEADER_BYTES

_NAMES = ".shstrtab"
_NOTE_SECTIONS = {
    NoteType.PROGRAM_INFORMATION: ".note.proginfo",
    NoteType.INPUTS: ".note.inputs",
    NoteType.OUTPUTS: ".note.outputs",
    NoteType.CONDITIONAL_OUTPUT: ".note.condout",
    NoteType.FLOAT32_CONSTANTS: ".note.float32consts",
    NoteType.INT32_CONSTANTS: ".note.int32consts",
    NoteType.EARLY_EXIT: ".note.earlyexit",
    NoteType.R700_PROGRAM: ".note.r700",
    NoteType.R700_PIPELINE: ".note.r700pipe",
    ToolNote.LINES: ".note.lines",
    ToolNote.CONSTANTS: ".note.constants",
}


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    flags: int
    contents: bytes


def write_container(
    code: Sequence[Sequence[int]],
    notes: Sequence[tuple[NoteType | ToolNote, Sequence[int]]],
    *,
    machine: int,
    alignment: int = _ALIGNMENT,
) -> bytes:
    """The file of a program: the words of each unit of its code, and its notes in order, with their words.

    It can be loaded as it is at a 2 KiB aligned address. The code begins at a multiple of `alignment`.
    """
    code_at = -(-_HEADERS // alignment) * alignment
    text = b"".join(struct.pack(f"<{len(words)}I", *words) for words in code)
    noted = [_Section(_NOTE_SECTIONS[kind], _SHT_NOTE, 0, _note(kind, words)) for kind, words in notes]
    sections = [_Section(".text", _SHT_PROGBITS, _SHF_ALLOC | _SHF_EXECINSTR, text), *noted]
    names = _string_table([*(section.name for section in sections), _NAMES])
    sections.append(_Section(_NAMES, _SHT_STRTAB, 0, names))
    note_bytes = sum(len(note.contents) for note in noted)
    contents = b"".join(section.contents for section in sections)
    return b"".join(
        (
            _file_header(machine, code_at + len(contents), len(sections) + 1),
            _PHDR.pack(elf.PT_LOAD, code_at, 0, 0, len(text), len(text), _PF_READ | _PF_EXECUTE, alignment),
            _PHDR.pack(elf.PT_NOTE, code_at + len(text), 0, 0, note_bytes, 0, _PF_READ, _ALIGNMENT),
            bytes(code_at - _HEADERS),
            contents,
            _section_headers(sections, code_at, alignment),
        )
    )


def _file_header(machine: int, section_headers_at: int, section_headers: int) -> bytes:
    return _EHDR.pack(
        elf.ELF_MAGIC,
        elf.ELFCLASS32,
        elf.ELFDATA2LSB,
        elf.EV_CURRENT,
        elf.ELFOSABI_ATI,
        elf.ABI_VERSION,
        elf.ET_EXEC,
        machine,
        elf.EV_CURRENT,
        0,
        elf.ELF_HEADER_BYTES,
        section_headers_at,
        elf.EF_ATI_DPP,
        elf.ELF_HEADER_BYTES,
        elf.PROGRAM_HEADER_BYTES,
        _PROGRAM_HEADERS,
        _SHDR.size,
        section_headers,
        section_headers - 1,
    )


def _note(kind: NoteType | ToolNote, descriptor: Sequence[int]) -> bytes:
    name = TOOL_NAME if isinstance(kind, ToolNote) else elf.NOTE_NAME
    header = struct.pack("<3I", len(name), 4 * len(descriptor), kind.value)
    return header + name + struct.pack(f"<{len(descriptor)}I", *descriptor)


def _string_table(names: Sequence[str]) -> bytes:
    """Section names, each ended by a zero byte, after the empty name; padded to whole words."""
    table = "".join(f"{name}\0" for name in ("", *names)).encode("ascii")
    return table + bytes(-len(table) % _ALIGNMENT)


def _section_headers(sections: Sequence[_Section], code_at: int, code_alignment: int) -> bytes:
    """The table of section headers: the empty one, then one per section."""
    headers = [bytes(_SHDR.size)]
    name_at, at = 1, code_at
    for section in sections:
        alignment = {_SHT_STRTAB: 1, _SHT_PROGBITS: code_alignment}.get(section.kind, _ALIGNMENT)
        size = len(section.contents)
        headers.append(_SHDR.pack(name_at, section.kind, section.flags, 0, at, size, 0, 0, alignment, 0))
        name_at, at = name_at + len(section.name) + 1, at + size
    return b"".join(headers)
