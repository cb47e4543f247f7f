"""The PE's program loader: what it takes, what it rejects, and that it remains inside 64 KiB."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.rtl.isa.status import Status
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx.image import fields_of
from ctm.sim.memory import Memory

BASE = 0x10000
INSTRUCTIONS = tuple((kind, 1, 2, 3, 4, 5 + kind) for kind in (0, 1, 3))
IMAGE = write(
    Executable(
        instructions=INSTRUCTIONS, start=1, end=2, highest_temporary=9, us_config=2, us_fc_ctrl=0x80000000,
        fg_depth_src=1, uncached_writes=True,
    )
)  # fmt: skip


def memory_with(image: bytes) -> Memory:
    memory = Memory()
    memory.write(BASE, image)
    return memory


def refusal(image: bytes) -> str:
    with pytest.raises(MachineError) as caught:
        load(memory_with(image), BASE, "r5xx")
    assert caught.value.status is Status.BAD_EXECUTABLE
    return caught.value.detail


def patched(image: bytes, offset: int, data: bytes) -> bytes:
    return image[:offset] + data + image[offset + len(data) :]


def headers(image: bytes, kind: int) -> list[int]:
    """Offsets of the program headers of a kind."""
    table, count = struct.unpack_from("<I", image, 28)[0], struct.unpack_from("<H", image, 44)[0]
    offsets = [table + 32 * index for index in range(count)]
    return [offset for offset in offsets if struct.unpack_from("<I", image, offset)[0] == kind]


def test_a_written_executable_is_loaded_whole() -> None:
    image = load(memory_with(IMAGE), BASE, "r5xx")
    assert image.code == INSTRUCTIONS
    assert image.kind == "r5xx"
    information = fields_of(image.information)
    assert (information["US_CODE_ADDR"]["start"], information["US_CODE_ADDR"]["end"]) == (1, 2)
    assert information["US_PIXSIZE"]["highest_temporary"] == 9
    assert information["US_CONFIG"]["zero_times_anything"] == 1
    assert information["US_FC_CTRL"]["full_fc_en"] == 1
    assert information["FG_DEPTH_SRC"]["from_program"] == 1
    assert information["UMRT"]["uncached_writes"] == 1


@pytest.mark.parametrize(
    ("offset", "data", "message"),
    [
        (0, b"\x7fELG", "magic"),
        (4, b"\x02", "class"),
        (5, b"\x02", "data encoding"),
        (7, b"\x00", "OSABI"),
        (8, b"\x02", "ABI version"),
        (16, b"\x01", "type"),
        (18, b"\x03", "machine"),
        (36, b"\x00", "flags"),
        (42, b"\x28", "phentsize"),
        (28, struct.pack("<I", PROGRAM_FORMAT.image_limit - 8), "program header 0"),
        (28, struct.pack("<I", 53), "program header 0"),
        (28, b"\xff\xff\xff\xff", "program header 0"),
        (44, b"\x00\x00", "no code segment"),
    ],
)
def test_a_wrong_header_is_an_error_by_name(offset: int, data: bytes, message: str) -> None:
    assert message in refusal(patched(IMAGE, offset, data))


def test_segments_and_notes_that_do_not_fit_are_errors() -> None:
    code, note = headers(IMAGE, 1)[0], headers(IMAGE, 4)[0]
    assert "two code segments" in refusal(patched(IMAGE, note, struct.pack("<I", 1)))
    for size in (0, 23, 25, 513 * 24):
        assert f"code of {size} bytes" in refusal(patched(IMAGE, code + 16, struct.pack("<I", size)))
    assert "the code segment" in refusal(patched(IMAGE, code + 4, struct.pack("<I", 54)))
    assert "the code segment" in refusal(patched(IMAGE, code + 4, struct.pack("<I", PROGRAM_FORMAT.image_limit - 68)))
    assert "a note" in refusal(patched(IMAGE, note + 4, struct.pack("<I", PROGRAM_FORMAT.image_limit - 4)))
    assert "a note" in refusal(patched(IMAGE, note + 16, struct.pack("<I", 8)))


def test_the_program_information_must_be_there_once_and_whole() -> None:
    note = struct.unpack_from("<I", IMAGE, headers(IMAGE, 4)[0] + 4)[0]
    assert "0 program information notes" in refusal(patched(IMAGE, note + 8, struct.pack("<I", 2)))
    assert "0 program information notes" in refusal(patched(IMAGE, note + 12, b"ATI DPQ\x00"))
    assert "60 bytes instead of 64" in refusal(patched(IMAGE, note + 4, struct.pack("<I", 60)))
    assert "word 0" in refusal(patched(IMAGE, note + 20, struct.pack("<I", 2)))


def test_an_image_at_the_end_of_memory_wraps_like_every_address() -> None:
    memory = Memory()
    base = 0xFFFF_F800
    memory.write(base, IMAGE[:2048])
    memory.write(0, IMAGE[2048:])
    assert load(memory, base, "r5xx").code == INSTRUCTIONS


@given(
    changes=st.lists(st.tuples(st.integers(0, len(IMAGE) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    length=st.integers(0, len(IMAGE)),
)
def test_any_damage_loads_or_is_rejected(changes: list[tuple[int, int]], length: int) -> None:
    image = bytearray(IMAGE)
    for offset, value in changes:
        image[offset] = value
    memory = memory_with(bytes(image[:length]))
    before = memory.read(0, 1 << 18)
    try:
        loaded = load(memory, BASE, "r5xx")
        assert 1 <= len(loaded.code) <= 512
    except MachineError as error:
        assert error.status is Status.BAD_EXECUTABLE
    assert memory.read(0, 1 << 18) == before


def test_nothing_outside_64_kib_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    memory = memory_with(IMAGE)
    words = memory.words

    def noted(address: int, count: int) -> np.ndarray:
        read.append((address, count))
        return words(address, count)

    monkeypatch.setattr(memory, "words", noted)
    generator = np.random.default_rng(5)
    for _ in range(300):
        image = bytearray(IMAGE)
        for offset in generator.integers(28, 300, 4):
            image[offset] = generator.integers(256)
        memory.write(BASE, bytes(image))
        try:
            load(memory, BASE, "r5xx")
        except MachineError:
            pass
    assert read
    assert all(BASE <= address and address + 4 * count <= BASE + PROGRAM_FORMAT.image_limit for address, count in read)
