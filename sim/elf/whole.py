"""Whether an ELF file is there to its end: a download or a copy that broke off should be called that."""

import struct

from ctm.rtl.isa import executable as elf
from ctm.sim.elf.error import ElfError

_CLASS_AT, _HEADERS_AT, _SIZES_AT = 4, 28, 42
_HEADERS, _SIZES = struct.Struct("<2I"), struct.Struct("<4H")
"""Where program and section headers begin; the size and the number of each."""


def check_whole(data: bytes) -> None:
    """Reject a file that ends before its headers do; what is no ELF file of 32 bits is left to others.

    Raises
    ------
    ElfError
        It is empty or truncated.
    """
    if not data:
        raise ElfError("the file is empty", 0)
    if not data.startswith(elf.ELF_MAGIC[: len(data)]):
        return
    if len(data) < elf.ELF_HEADER_BYTES:
        raise _truncated(data, elf.ELF_HEADER_BYTES)
    if data[_CLASS_AT : _CLASS_AT + 2] != bytes([elf.ELFCLASS32, elf.ELFDATA2LSB]):
        return
    starts = _HEADERS.unpack_from(data, _HEADERS_AT)
    program_bytes, programs, section_bytes, sections = _SIZES.unpack_from(data, _SIZES_AT)
    sizes = program_bytes * programs, section_bytes * sections
    end = max(start + size for start, size in zip(starts, sizes, strict=True) if size) if any(sizes) else 0
    if end > len(data):
        raise _truncated(data, end)


def _truncated(data: bytes, end: int) -> ElfError:
    return ElfError(f"the file is truncated: it takes {end:,} bytes, and has {len(data):,}", len(data))
