"""The program loader of the PE: reads a DPP executable's image in memory.

Source: CTM Guide pp. 45-49. What tells one kind of program from another is in `PROGRAM_FORMATS`. From the image's base
on no more is read than programs of the machine's kind may have: of R5xx programs 64 KiB.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError, wrong_kind
from ctm.sim.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Image:
    """A loaded program: the words of each unit of its code, and those of its program information."""

    kind: str
    """The instruction set that it is for, as `PROGRAM_FORMATS` has it."""
    code: tuple[tuple[int, ...], ...]
    information: tuple[int, ...]
    pipelines: tuple[tuple[int, ...], ...] = ()
    """Words of each note that describes the programs of a draw."""


def _malformed(detail: str) -> MachineError:
    return MachineError(status=Status.BAD_EXECUTABLE, detail=detail)


class _Window:
    """The range of memory that an image may occupy: `size` bytes."""

    def __init__(self, memory: Memory, base: int, size: int) -> None:
        self._memory = memory
        self._base = base
        self._size = size

    def words(self, offset: int, count: int, what: str) -> list[int]:
        if offset % 4 or offset < 0 or offset + 4 * count > self._size:
            kilobytes = self._size // 1024
            raise _malformed(f"{what} at offset {offset} is not a multiple of 4 inside {kilobytes} KiB of the image")
        if self._memory.has_error(self._base + offset, 4 * count):
            raise MachineError(
                status=Status.BUS_ERROR,
                client=BusClient.INSTRUCTION,
                address=(self._base + offset) % ADDRESS_SPACE,
                detail=f"{what} cannot be read",
            )
        return [int(word) for word in self._memory.words(self._base + offset, count)]


def load(memory: Memory, base: int, kind: str) -> Image:
    """Load the executable image at `base` for a machine whose cores run programs of `kind`.

    Raises
    ------
    MachineError
        BAD_EXECUTABLE, with what is malformed or that it is of another kind, or BUS_ERROR.
    """
    wanted = PROGRAM_FORMATS[kind]
    window = _Window(memory, base, wanted.image_limit)
    codes: list[tuple[int, int]] = []
    notes: list[tuple[str, list[int]]] = []
    pipelines: list[tuple[int, ...]] = []
    # Each segment is read before the next header, as the hardware does: the first word that cannot be read counts.
    for segment, offset, size in _segments(window, wanted.machine):
        if segment == elf.PT_LOAD:
            codes.append((offset, size))
        if len(codes) > 1:
            raise _malformed("it has two code segments")
        for descriptor in _descriptors(window, offset, size) if segment == elf.PT_NOTE else ():
            notes += _program_note(window, descriptor, kind)
            pipelines += _pipeline_note(window, descriptor, wanted)
    if not codes:
        raise _malformed("it has no code segment")
    if len(notes) != 1:
        raise _malformed(f"it has {len(notes)} program information notes instead of one")
    found, information = notes[0]
    if found != kind:
        raise wrong_kind(found, kind)
    image = Image(
        kind=kind, code=_code(window, *codes[0], wanted), information=tuple(information), pipelines=tuple(pipelines)
    )
    if information[0] != wanted.version:
        raise _malformed(f"word 0 of its program information is not {wanted.version}")
    return image


def _segments(window: _Window, machine: int) -> Iterator[tuple[int, int, int]]:
    header = window.words(0, elf.ELF_HEADER_BYTES // 4, "the ELF header")
    identification = b"".join(word.to_bytes(4, "little") for word in header[:4])
    found = (
        identification[:4], identification[4], identification[5], identification[7], identification[8],
        header[4] & 0xFFFF, header[4] >> 16, header[9], header[10] >> 16,
    )  # fmt: skip
    wanted = (
        elf.ELF_MAGIC, elf.ELFCLASS32, elf.ELFDATA2LSB, elf.ELFOSABI_ATI, elf.ABI_VERSION,
        elf.ET_EXEC, machine, elf.EF_ATI_DPP, elf.PROGRAM_HEADER_BYTES,
    )  # fmt: skip
    names = ("magic", "class", "data encoding", "OSABI", "ABI version", "type", "machine", "flags", "phentsize")
    for name, value, right in zip(names, found, wanted, strict=True):
        if value != right:
            raise _malformed(f"its {name} is {value!r} instead of {right!r}")
    table, count = header[7], header[11] & 0xFFFF
    for index in range(count):
        words = window.words(table + index * elf.PROGRAM_HEADER_BYTES, 8, f"program header {index}")
        yield words[0], words[1], words[4]


class _Descriptor(NamedTuple):
    """Where the descriptor of a DPP's note is."""

    note: int
    offset: int
    size: int


def _descriptors(window: _Window, offset: int, size: int) -> Iterator[_Descriptor]:
    """The DPP's notes of a note segment."""
    end = offset + size
    while offset < end:
        name_size, descriptor_size, note = window.words(offset, elf.NOTE_HEADER_BYTES // 4, "a note")
        name_at = offset + elf.NOTE_HEADER_BYTES
        descriptor_at = name_at + (name_size + 3 & ~3)
        offset = descriptor_at + (descriptor_size + 3 & ~3)
        if offset > end:
            raise _malformed("a note reaches past the end of its segment")
        name = window.words(name_at, (name_size + 3) // 4, "a note's name")
        if _bytes(name)[:name_size] == elf.NOTE_NAME:
            yield _Descriptor(note, descriptor_at, descriptor_size)


def _program_note(window: _Window, descriptor: _Descriptor, kind: str) -> Iterator[tuple[str, list[int]]]:
    """The kind of program that a note describes, if it describes one, and its words if they are of `kind`."""
    machine = PROGRAM_FORMATS[kind].machine
    kinds = {known.information.value: kind for kind, known in PROGRAM_FORMATS.items() if known.machine == machine}
    if descriptor.note not in kinds:
        return
    found = kinds[descriptor.note]
    if found != kind:
        yield found, []
        return
    if descriptor.size != 4 * elf.PROGRAM_INFORMATION_WORDS:
        raise _malformed(f"its program information has {descriptor.size} bytes instead of 64")
    yield found, window.words(descriptor.offset, elf.PROGRAM_INFORMATION_WORDS, "the program information")


def _pipeline_note(window: _Window, descriptor: _Descriptor, wanted: ProgramFormat) -> Iterator[tuple[int, ...]]:
    """The words of a note, if it describes the programs of a draw."""
    if wanted.pipeline is not None and descriptor.note == wanted.pipeline.value:
        yield tuple(window.words(descriptor.offset, descriptor.size // 4, "the pipeline note"))


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def _code(window: _Window, offset: int, size: int, wanted: ProgramFormat) -> tuple[tuple[int, ...], ...]:
    count, remainder = divmod(size, wanted.unit_bytes)
    if remainder or not 0 < count <= wanted.most_units:
        limits = f"1 to {wanted.most_units} instructions of {wanted.unit_bytes} bytes"
        raise _malformed(f"its code of {size} bytes is not {limits}")
    unit_words = wanted.unit_bytes // WORD_BYTES
    words = window.words(offset, count * unit_words, "the code segment")
    return tuple(tuple(words[at : at + unit_words]) for at in range(0, len(words), unit_words))
