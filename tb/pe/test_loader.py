"""The program loader in the command processor against the golden one: good images, and all kinds of damage."""

import struct
from functools import cache

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer
from ctm.tb.pe.checking import check
from ctm.tb.pe.images import ODD_WORDS, SPAN, damage, header, note, put_small, random_draft
from ctm.tb.pe.simulation import Outcome, ProcessorSimulation, Timing, Work

BASE, BUFFER = 0x0030_0800, 0x2000_0000
SMALL_BYTES = 320
INFORMATION = struct.pack("<16I", 1, *range(15))
PROGRAM_NOTE = note(elf.NOTE_NAME, elf.NoteType.PROGRAM_INFORMATION.value, INFORMATION)
FOREIGN_NOTE = note(elf.NOTE_NAME, elf.NoteType.R700_PROGRAM.value, struct.pack("<16I", 0x700, *range(15)))


@cache
def compiled() -> ProcessorSimulation:
    return ProcessorSimulation(ArrayConfig(lanes=4))


def load(memory: Memory, base: int = BASE, *, error_lines: tuple[tuple[int, int], ...] = (), what: str = "") -> Outcome:
    """The outcome of starting the image at `base` on one pair."""
    words = CommandBuffer().set_inst_fmt(base).start_program().words
    memory.write(BUFFER, np.array(words, "<u4").tobytes())
    for first, end in error_lines:
        memory.respond_with_errors(64 * first, 64 * end)
    return check(
        compiled(), Work(memory=memory, buffers=[(BUFFER, len(words))], error_lines=error_lines), Timing(), what
    )


def statuses(outcome: Outcome) -> list[Status]:
    return [Status(values[0]) for values in outcome.values_of("error")]


def image(segments: list[tuple[int, int, int]], contents: dict[int, bytes], *, table: int = 64) -> Memory:
    """An image of segments (type, offset, size), with more bytes at given offsets."""
    memory = Memory()
    memory.write(BASE, header(table, len(segments)))
    for number, (kind, offset, size) in enumerate(segments):
        memory.write(BASE + table + 32 * number, struct.pack("<8I", kind, offset, 0, 0, size, 0, 0, 0))
    for offset, data in contents.items():
        memory.write(BASE + offset, data)
    return memory


@pytest.mark.slow
def test_random_images(request: pytest.FixtureRequest) -> None:
    count = 50_000 if request.config.getoption("--long") else 1000
    loaded = 0
    memory = Memory()
    for seed in range(count):
        generator = np.random.default_rng(seed)
        draft = random_draft(generator)
        if seed % 4:
            damage(generator, draft)
        memory.write(BASE, bytes(draft.image))
        loaded += len(load(memory, what=f"seed {seed}").values_of("image"))
    assert count // 4 < loaded < count * 3 // 4


@pytest.mark.parametrize("line", range(SPAN // 128))
def test_an_error_is_reported_as_the_field_that_needs_the_line(line: int) -> None:
    for seed in range(10):
        memory = Memory()
        memory.write(BASE, bytes(random_draft(np.random.default_rng(seed)).image))
        first = BASE // 64 + line
        outcome = load(memory, error_lines=((first, first + 1),), what=f"seed {seed}")
        for values in outcome.values_of("error"):
            assert values[1] == BusClient.INSTRUCTION.value


@pytest.mark.parametrize("offset_of_word", range(0, SMALL_BYTES, 4))
def test_any_word_may_have_any_odd_value(offset_of_word: int) -> None:
    memory = Memory()
    for word in ODD_WORDS:
        put_small(memory, BASE, instructions=2)
        memory.write(BASE + offset_of_word, struct.pack("<I", word))
        load(memory, what=f"{word:#x} at {offset_of_word}")


@pytest.mark.parametrize("size", [0, 4, 23, 24, 25, 48, 510 * 24, 512 * 24 - 4, 512 * 24, 512 * 24 + 4, 513 * 24])
def test_code_has_one_to_512_whole_instructions(size: int) -> None:
    memory = image([(elf.PT_LOAD, 1024, size), (elf.PT_NOTE, 256, len(PROGRAM_NOTE))], {256: PROGRAM_NOTE})
    is_good = size % 24 == 0 and 0 < size <= 512 * 24
    assert statuses(load(memory)) == [] if is_good else [Status.BAD_EXECUTABLE]


def test_all_numbers_of_instructions_are_told() -> None:
    for count in range(1, 513):
        memory = image([(elf.PT_LOAD, 1024, 24 * count), (elf.PT_NOTE, 256, len(PROGRAM_NOTE))], {256: PROGRAM_NOTE})
        assert load(memory).values_of("image")[0][1] == count


def test_code_and_notes_may_end_at_64_kib_and_not_after() -> None:
    for over in (0, 4):
        at = PROGRAM_FORMAT.image_limit - 24 + over
        memory = image([(elf.PT_LOAD, at, 24), (elf.PT_NOTE, 256, len(PROGRAM_NOTE))], {256: PROGRAM_NOTE})
        assert statuses(load(memory)) == [Status.BAD_EXECUTABLE] * (over > 0)
        at = PROGRAM_FORMAT.image_limit - len(PROGRAM_NOTE) + over
        memory = image([(elf.PT_LOAD, 256, 24), (elf.PT_NOTE, at, len(PROGRAM_NOTE))], {at: PROGRAM_NOTE})
        assert statuses(load(memory)) == [Status.BAD_EXECUTABLE] * (over > 0)
        at = PROGRAM_FORMAT.image_limit - 64 + over
        segments = [(elf.PT_LOAD, 256, 24), (elf.PT_NOTE, 512, len(PROGRAM_NOTE))]
        assert statuses(load(image(segments, {512: PROGRAM_NOTE}, table=at))) == [Status.BAD_EXECUTABLE] * (over > 0)


@pytest.mark.parametrize("count", [2046, 2047, 65535])
def test_a_table_that_leaves_64_kib_has_error_and_one_that_fills_it_is_not(count: int) -> None:
    memory = Memory()
    memory.write(BASE, header(64, count))
    at = 64 + 32 * 2044
    memory.write(BASE + at, struct.pack("<8I", elf.PT_LOAD, 64, 0, 0, 24, 0, 0, 0))
    memory.write(BASE + at + 32, struct.pack("<8I", elf.PT_NOTE, 96, 0, 0, len(PROGRAM_NOTE), 0, 0, 0))
    memory.write(BASE + 96, bytes(4) + PROGRAM_NOTE[4:])
    # The note lies in headers of a type that is not looked at; without its name's size it is none of ours.
    assert statuses(load(memory)) == [Status.BAD_EXECUTABLE]


def test_notes_without_contents_are_walked_to_their_end_and_long_ones_read() -> None:
    nothing, empty = [(elf.PT_LOAD, 256, 24)], bytes(12) * 3000
    segments = [*nothing, (elf.PT_NOTE, 512, len(empty)), (elf.PT_NOTE, 60_000, len(PROGRAM_NOTE))]
    assert statuses(load(image(segments, {512: empty, 60_000: PROGRAM_NOTE}))) == []
    long = note(bytes(50_000), 1, b"")
    segments = [*nothing, (elf.PT_NOTE, 512, len(long)), (elf.PT_NOTE, 60_000, len(PROGRAM_NOTE))]
    memory = image(segments, {512: long, 60_000: PROGRAM_NOTE})
    assert statuses(load(memory)) == []
    line = BASE // 64 + 500
    assert load(memory, error_lines=((line, line + 1),)).values_of("error")[0][2] == BASE + 512 + 12


@pytest.mark.parametrize("copies", [0, 1, 2, 3, 4, 5])
def test_the_program_information_is_there_once(copies: int) -> None:
    segments = [(elf.PT_LOAD, 1024, 24), (elf.PT_NOTE, 256, copies * len(PROGRAM_NOTE))]
    outcome = load(image(segments, {256: copies * PROGRAM_NOTE}))
    assert statuses(outcome) == [Status.BAD_EXECUTABLE] * (copies != 1)


@pytest.mark.parametrize("copies", [0, 1, 2, 3, 4, 5])
def test_there_is_one_code_segment(copies: int) -> None:
    segments = [(elf.PT_NOTE, 1024, len(PROGRAM_NOTE)), *[(elf.PT_LOAD, 2048, 24)] * copies]
    outcome = load(image(segments, {1024: PROGRAM_NOTE}))
    assert statuses(outcome) == [Status.BAD_EXECUTABLE] * (copies != 1)


def test_an_image_at_the_end_of_memory_wraps() -> None:
    memory, whole = Memory(), Memory()
    put_small(whole, 0, instructions=100)
    contents, base = whole.read(0, 4096), 0xFFFF_F800
    memory.write(base, contents[:2048])
    memory.write(0, contents[2048:])
    outcome = load(memory, base)
    assert outcome.values_of("image")[0][1] == 100


def test_an_image_that_has_changed_is_read_anew() -> None:
    memory = Memory()
    put_small(memory, BASE)
    words = CommandBuffer().set_inst_fmt(BASE).start_program().words
    memory.write(BUFFER, np.array(words, "<u4").tobytes())
    work = Work(memory=memory, buffers=[(BUFFER, len(words))])
    for status in ([], [Status.BAD_EXECUTABLE], []):
        memory.write(BASE, b"\x7fELG" if status else elf.ELF_MAGIC)
        assert statuses(check(compiled(), work, Timing())) == status


@pytest.mark.parametrize(
    ("notes", "loads"),
    [
        ([FOREIGN_NOTE], False),
        ([FOREIGN_NOTE, PROGRAM_NOTE], False),
        ([PROGRAM_NOTE, FOREIGN_NOTE], False),
        ([PROGRAM_NOTE, note(b"GNU\x00", elf.NoteType.R700_PROGRAM.value, bytes(64))], True),
        ([note(elf.NOTE_NAME, elf.NoteType.R700_PROGRAM.value, b""), PROGRAM_NOTE], False),
    ],
)
def test_no_program_information_of_another_kind_may_be_there(notes: list[bytes], loads: bool) -> None:
    contents = b"".join(notes)
    segments = [(elf.PT_LOAD, 1024, 24), (elf.PT_NOTE, 256, len(contents))]
    outcome = load(image(segments, {256: contents}))
    assert statuses(outcome) == [Status.BAD_EXECUTABLE] * (not loads)
