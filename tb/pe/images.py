"""Images of executables in all their forms, good and damaged."""

import struct
from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION
from ctm.sim.memory import Memory

LIMIT = PROGRAM_FORMAT.image_limit
SPAN = 4096
"""All that a good image has lies within so many bytes, its code after the first half."""
_CODE_AT = SPAN // 2
ODD_WORDS = (
    0, 1, 2, 3, 4, 7, 8, 12, 16, 32, 60, 64, 100, SPAN, LIMIT - 64, LIMIT - 32, LIMIT - 8,
    LIMIT - 4, LIMIT, LIMIT + 4, 0x7FFF_FFFC, 0x8000_0000, 0xFFFF_0000, 0xFFFF_FFC0,
    0xFFFF_FFE0, 0xFFFF_FFF4, 0xFFFF_FFF8, 0xFFFF_FFFC, 0xFFFF_FFFF,
)  # fmt: skip


@dataclass
class Draft:
    """An image, and where its headers and notes begin."""

    image: bytearray
    positions: list[int]


def header(table: int, count: int, machine: int = elf.EM_ATI_R5XX) -> bytes:
    """An ELF header."""
    return struct.pack(
        "<4s5B7xHHIIIIIHHHHHH", elf.ELF_MAGIC, elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EV_CURRENT, elf.ELFOSABI_ATI,
        elf.ABI_VERSION, elf.ET_EXEC, machine, elf.EV_CURRENT, 0, table, 0, elf.EF_ATI_DPP,
        elf.ELF_HEADER_BYTES, elf.PROGRAM_HEADER_BYTES, count, 0, 0, 0,
    )  # fmt: skip


def note(name: bytes, kind: int, descriptor: bytes) -> bytes:
    """A note; name and descriptor are padded to whole words."""
    padded = [field + bytes(-len(field) % 4) for field in (name, descriptor)]
    return struct.pack("<3I", len(name), len(descriptor), kind) + b"".join(padded)


def random_notes(generator: np.random.Generator, uncached_writes: bool) -> list[bytes]:
    """Notes, one of which is the program information."""
    information = generator.integers(0, 1 << 32, elf.PROGRAM_INFORMATION_WORDS, np.uint32)
    information[0] = PROGRAM_FORMAT.version
    umrt = list(PROGRAM_INFORMATION).index("UMRT")
    information[umrt] = information[umrt] & ~np.uint32(1) | uncached_writes
    notes = [note(elf.NOTE_NAME, elf.NoteType.PROGRAM_INFORMATION.value, information.tobytes())]
    others = (elf.NOTE_NAME, b"ATI DPQ\x00", b"ATI", b"GNU\x00", b"", b"ATI DPP\x00\x00", b"a long name of a note\x00")
    for _ in range(generator.integers(4)):
        name = others[generator.integers(len(others))]
        kind = int(generator.integers(2 if name == elf.NOTE_NAME else 1, 10))
        other = note(name, kind, generator.bytes(int(generator.integers(30))))
        notes.insert(int(generator.integers(len(notes) + 1)), other)
    return notes


def random_draft(generator: np.random.Generator) -> Draft:
    """A good image: program headers and notes anywhere in its first half, code at a line's begin in the second."""
    instructions = int(generator.choice([1, 2, 7, 40, 80]))
    notes = random_notes(generator, bool(generator.random() < 0.1))
    split = int(generator.integers(len(notes) + 1))
    segments = [(elf.PT_NOTE, field) for field in (notes[:split], notes[split:]) if field or generator.random() < 0.3]
    table = elf.ELF_HEADER_BYTES + 4 * int(generator.integers(20))
    kinds = [*segments, (elf.PT_LOAD, None)] + [(int(generator.choice([0, 2, 3, 5, 6, 7])), [])] * (split == 1)
    generator.shuffle(kinds)
    at = table + elf.PROGRAM_HEADER_BYTES * len(kinds) + 4 * int(generator.integers(20))
    draft = Draft(bytearray(SPAN), [0, 16, 28, 32, 40, 44])
    draft.image[_CODE_AT:] = generator.bytes(SPAN - _CODE_AT)
    draft.image[: elf.ELF_HEADER_BYTES] = header(table, len(kinds))
    for number, (kind, contents_list) in enumerate(kinds):
        position, contents = table + elf.PROGRAM_HEADER_BYTES * number, b"".join(contents_list or [])
        draft.positions += [position, position + 4, position + 16]
        offset, size = (
            (at, len(contents)) if contents_list is not None else (_CODE_AT, INSTRUCTION_BYTES * instructions)
        )
        struct.pack_into("<5I", draft.image, position, kind, offset, 0, 0, size)
        for field in contents_list or []:
            draft.positions += [at, at + 4, at + 8, at + 12, at + 16, at + 20]
            draft.image[at : at + len(field)] = field
            at += len(field)
    assert at <= _CODE_AT
    return draft


def damage(generator: np.random.Generator, draft: Draft) -> None:
    """Change words that the loader looks at."""
    for _ in range(generator.integers(1, 3)):
        position = int(generator.choice(draft.positions))
        (word,) = struct.unpack_from("<I", draft.image, position)
        manner = generator.integers(3)
        if manner == 0:
            word = int(generator.choice(ODD_WORDS))
        elif manner == 1:
            word = (word + int(generator.choice([-24, -4, -1, 1, 4, 24, 32]))) % (1 << 32)
        else:
            word ^= 1 << int(generator.integers(32))
        struct.pack_into("<I", draft.image, position, word)


def put_random(memory: Memory, generator: np.random.Generator, base: int, *, damaged: float) -> None:
    """Put an image at `base`, damaged with this probability."""
    draft = random_draft(generator)
    if generator.random() < damaged:
        damage(generator, draft)
    memory.write(base, bytes(draft.image))


def put_small(memory: Memory, base: int, *, instructions: int = 1) -> None:
    """Put a good image at `base`: what a directed test starts."""
    assert 0 < instructions <= INSTRUCTION_SLOTS
    information = struct.pack("<16I", PROGRAM_FORMAT.version, *range(1, 9), 0, *range(10, 16))
    contents = note(elf.NOTE_NAME, elf.NoteType.PROGRAM_INFORMATION.value, information)
    table = elf.ELF_HEADER_BYTES
    at = table + 2 * elf.PROGRAM_HEADER_BYTES
    code_at, size = at + len(contents), INSTRUCTION_BYTES * instructions
    headers = [struct.pack("<8I", elf.PT_NOTE, at, 0, 0, len(contents), 0, 0, 0),
               struct.pack("<8I", elf.PT_LOAD, code_at, 0, 0, size, 0, 0, 0)]  # fmt: skip
    memory.write(base, header(table, 2) + b"".join(headers) + contents + bytes(range(24)) * instructions)
