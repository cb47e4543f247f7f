"""Writes a program as an ELF32 file; CTM Guide pp. 45-49.

The file is also the image that the machine's loader reads: ELF header, two program headers, code, notes; then what only
tools look at: section names and section headers.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.r5xx.program import (
    PROGRAM_FORMAT,
    PROGRAM_INFORMATION,
    UMRT,
    US_CODE_ADDR,
    US_CODE_OFFSET,
    US_CODE_RANGE,
    US_PIXSIZE,
)
from ctm.rtl.isa.word import pack
from ctm.sim.elf.r5xx.executable import Executable

_EHDR = struct.Struct("<4s5B7xHHIIIIIHHHHHH")
_PHDR = struct.Struct("<8I")
_SHDR = struct.Struct("<10I")

_SHT_PROGBITS, _SHT_STRTAB, _SHT_NOTE = 1, 3, 7
_SHF_ALLOC, _SHF_EXECINSTR = 2, 4
_PF_EXECUTE, _PF_READ = 1, 4
_ALIGNMENT = 4
_PROGRAM_HEADERS = 2
_CODE_AT = elf.ELF_HEADER_BYTES + _PROGRAM_HEADERS * elf.PROGRAM_HEADER_BYTES

_NAMES = ".shstrtab"
_NOTE_SECTIONS = {
    elf.NoteType.PROGRAM_INFORMATION: ".note.proginfo",
    elf.NoteType.INPUTS: ".note.inputs",
    elf.NoteType.OUTPUTS: ".note.outputs",
    elf.NoteType.CONDITIONAL_OUTPUT: ".note.condout",
    elf.NoteType.FLOAT32_CONSTANTS: ".note.float32consts",
    elf.NoteType.INT32_CONSTANTS: ".note.int32consts",
    elf.NoteType.EARLY_EXIT: ".note.earlyexit",
}


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    flags: int
    contents: bytes


def write(executable: Executable) -> bytes:
    """The ELF file of a program; it can be loaded as it is at a 2 KiB aligned address.

    A note that would say nothing is left out, except the program information.
    """
    code = b"".join(struct.pack(f"<{len(words)}I", *words) for words in executable.instructions)
    notes = [
        _Section(_NOTE_SECTIONS[kind], _SHT_NOTE, 0, _note(kind, descriptor))
        for kind, descriptor in _descriptors(executable)
    ]
    sections = [_Section(".text", _SHT_PROGBITS, _SHF_ALLOC | _SHF_EXECINSTR, code), *notes]
    names = _string_table([*(section.name for section in sections), _NAMES])
    sections.append(_Section(_NAMES, _SHT_STRTAB, 0, names))
    note_bytes = sum(len(note.contents) for note in notes)
    contents = b"".join(section.contents for section in sections)
    return b"".join(
        (
            _file_header(_CODE_AT + len(contents), len(sections) + 1),
            _PHDR.pack(elf.PT_LOAD, _CODE_AT, 0, 0, len(code), len(code), _PF_READ | _PF_EXECUTE, _ALIGNMENT),
            _PHDR.pack(elf.PT_NOTE, _CODE_AT + len(code), 0, 0, note_bytes, 0, _PF_READ, _ALIGNMENT),
            contents,
            _section_headers(sections),
        )
    )


def _file_header(section_headers_at: int, section_headers: int) -> bytes:
    return _EHDR.pack(
        elf.ELF_MAGIC,
        elf.ELFCLASS32,
        elf.ELFDATA2LSB,
        elf.EV_CURRENT,
        elf.ELFOSABI_ATI,
        elf.ABI_VERSION,
        elf.ET_EXEC,
        elf.EM_ATI_R5XX,
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


def _note(kind: elf.NoteType, descriptor: Sequence[int]) -> bytes:
    header = struct.pack("<3I", len(elf.NOTE_NAME), 4 * len(descriptor), kind.value)
    return header + elf.NOTE_NAME + struct.pack(f"<{len(descriptor)}I", *descriptor)


def _descriptors(executable: Executable) -> Iterable[tuple[elf.NoteType, Sequence[int]]]:
    """Every note to write, with the words of its descriptor."""
    notes = executable.notes
    yield elf.NoteType.PROGRAM_INFORMATION, _program_information(executable)
    for kind, words in (
        (elf.NoteType.INPUTS, notes.inputs),
        (elf.NoteType.OUTPUTS, notes.outputs),
        (elf.NoteType.CONDITIONAL_OUTPUT, (1,) * notes.conditional_output),
        (elf.NoteType.FLOAT32_CONSTANTS, notes.float_constants),
        (elf.NoteType.INT32_CONSTANTS, notes.int_constants),
        (elf.NoteType.EARLY_EXIT, (1,) * notes.early_exit),
    ):
        if words:
            yield kind, words


def _program_information(executable: Executable) -> list[int]:
    words = {
        "version": PROGRAM_FORMAT.version,
        "FG_DEPTH_SRC": executable.fg_depth_src,
        "US_CONFIG": executable.us_config,
        "US_PIXSIZE": pack(US_PIXSIZE, highest_temporary=executable.highest_temporary),
        "US_FC_CTRL": executable.us_fc_ctrl,
        "US_CODE_ADDR": pack(US_CODE_ADDR, start=executable.start, end=executable.end),
        "US_CODE_RANGE": pack(US_CODE_RANGE, size=len(executable.instructions) - 1),
        "US_CODE_OFFSET": pack(US_CODE_OFFSET, offset=executable.offset),
        "US_W_FMT": executable.us_w_fmt,
        "UMRT": pack(UMRT, uncached_writes=int(executable.uncached_writes)),
    }
    return [words.get(name, 0) for name in PROGRAM_INFORMATION]


def _string_table(names: Sequence[str]) -> bytes:
    """Section names, each ended by a zero byte, after the empty name; padded to whole words."""
    table = "".join(f"{name}\0" for name in ("", *names)).encode("ascii")
    return table + bytes(-len(table) % _ALIGNMENT)


def _section_headers(sections: Sequence[_Section]) -> bytes:
    """The table of section headers: the empty one, then one per section."""
    headers = [bytes(_SHDR.size)]
    name_at, at = 1, _CODE_AT
    for section in sections:
        alignment = 1 if section.kind == _SHT_STRTAB else _ALIGNMENT
        size = len(section.contents)
        headers.append(_SHDR.pack(name_at, section.kind, section.flags, 0, at, size, 0, 0, alignment, 0))
        name_at, at = name_at + len(section.name) + 1, at + size
    return b"".join(headers)
