"""The program loader of the PE: reads a DPP executable's image in memory.

Source: CTM Guide pp. 45-49. It reads nothing outside the first 64 KiB from the image's base.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.isa.word import unpack
from ctm.sim.fault import MachineError
from ctm.sim.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Image:
    """A loaded program: instructions of six words each and the fields of its program information, by note word."""

    instructions: tuple[tuple[int, ...], ...]
    information: Mapping[str, Mapping[str, int]]


def _malformed(detail: str) -> MachineError:
    return MachineError(status=Status.BAD_EXECUTABLE, detail=detail)


class _Window:
    """The part of memory that an image may occupy."""

    def __init__(self, memory: Memory, base: int) -> None:
        self._memory = memory
        self._base = base

    def words(self, offset: int, count: int, what: str) -> list[int]:
        if offset % 4 or offset < 0 or offset + 4 * count > PROGRAM_FORMAT.image_limit:
            raise _malformed(f"{what} at offset {offset} is not a multiple of 4 inside 64 KiB of the image")
        if self._memory.is_refused(self._base + offset, 4 * count):
            raise MachineError(
                status=Status.BUS_ERROR,
                client=BusClient.INSTRUCTION,
                address=(self._base + offset) % ADDRESS_SPACE,
                detail=f"{what} cannot be read",
            )
        return [int(word) for word in self._memory.words(self._base + offset, count)]


def load(memory: Memory, base: int) -> Image:
    """Load the executable image at `base`.

    Raises
    ------
    MachineError
        BAD_EXECUTABLE, with what is malformed, or BUS_ERROR.
    """
    window = _Window(memory, base)
    code: tuple[int, int] | None = None
    descriptors: list[list[int]] = []
    for kind, offset, size in _segments(window):
        if kind == elf.PT_LOAD:
            if code is not None:
                raise _malformed("it has two code segments")
            code = offset, size
        elif kind == elf.PT_NOTE:
            descriptors += _program_information(window, offset, size)
    if code is None:
        raise _malformed("it has no code segment")
    if len(descriptors) != 1:
        raise _malformed(f"it has {len(descriptors)} program information notes instead of one")
    return Image(instructions=_instructions(window, *code), information=_information(descriptors[0]))


def _segments(window: _Window) -> Iterator[tuple[int, int, int]]:
    header = window.words(0, elf.ELF_HEADER_BYTES // 4, "the ELF header")
    identification = b"".join(word.to_bytes(4, "little") for word in header[:4])
    found = (
        identification[:4], identification[4], identification[5], identification[7], identification[8],
        header[4] & 0xFFFF, header[4] >> 16, header[9], header[10] >> 16,
    )  # fmt: skip
    wanted = (
        elf.ELF_MAGIC, elf.ELFCLASS32, elf.ELFDATA2LSB, elf.ELFOSABI_ATI, elf.ABI_VERSION,
        elf.ET_EXEC, elf.EM_ATI_R5XX, elf.EF_ATI_DPP, elf.PROGRAM_HEADER_BYTES,
    )  # fmt: skip
    names = ("magic", "class", "data encoding", "OSABI", "ABI version", "type", "machine", "flags", "phentsize")
    for name, value, right in zip(names, found, wanted, strict=True):
        if value != right:
            raise _malformed(f"its {name} is {value!r} instead of {right!r}")
    table, count = header[7], header[11] & 0xFFFF
    for index in range(count):
        words = window.words(table + index * elf.PROGRAM_HEADER_BYTES, 8, f"program header {index}")
        yield words[0], words[1], words[4]


def _program_information(window: _Window, offset: int, size: int) -> list[list[int]]:
    """Descriptors of all program information notes of one note segment."""
    found = []
    end = offset + size
    while offset < end:
        name_size, descriptor_size, kind = window.words(offset, elf.NOTE_HEADER_BYTES // 4, "a note")
        name_at = offset + elf.NOTE_HEADER_BYTES
        descriptor_at = name_at + (name_size + 3 & ~3)
        offset = descriptor_at + (descriptor_size + 3 & ~3)
        if offset > end:
            raise _malformed("a note reaches past the end of its segment")
        name = window.words(name_at, (name_size + 3) // 4, "a note's name")
        if _bytes(name)[:name_size] == elf.NOTE_NAME and kind == elf.NoteType.PROGRAM_INFORMATION.value:
            if descriptor_size != 4 * elf.PROGRAM_INFORMATION_WORDS:
                raise _malformed(f"its program information has {descriptor_size} bytes instead of 64")
            found.append(window.words(descriptor_at, elf.PROGRAM_INFORMATION_WORDS, "the program information"))
    return found


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def _information(descriptor: list[int]) -> Mapping[str, Mapping[str, int]]:
    information = {
        name: unpack(layout, word) for (name, layout), word in zip(PROGRAM_INFORMATION.items(), descriptor, strict=True)
    }
    if information["version"]["version"] != PROGRAM_FORMAT.version:
        raise _malformed("word 0 of its program information is not 1")
    return information


def _instructions(window: _Window, offset: int, size: int) -> tuple[tuple[int, ...], ...]:
    count, rest = divmod(size, INSTRUCTION_BYTES)
    if rest or not 0 < count <= INSTRUCTION_SLOTS:
        raise _malformed(f"its code of {size} bytes is not 1 to {INSTRUCTION_SLOTS} instructions of 24 bytes")
    words = window.words(offset, count * INSTRUCTION_WORDS, "the code segment")
    return tuple(tuple(words[at : at + INSTRUCTION_WORDS]) for at in range(0, len(words), INSTRUCTION_WORDS))
