"""ELF files: what is written is read back, binutils accept it, and whatever is malformed is an ElfError."""

import shutil
import struct
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.sim.elf import ElfError, Notes, read, read_shader, write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.golden.pe.loader import load
from ctm.sim.memory import Memory
from ctm.tb.elf.r5xx.programs import SHADERS

WORD = st.integers(0, 2**32 - 1)
SLOT = st.integers(0, 511)

NOTES = st.builds(
    Notes,
    inputs=st.lists(st.integers(0, 15)).map(tuple),
    outputs=st.lists(st.integers(0, 3)).map(tuple),
    conditional_output=st.booleans(),
    float_constants=st.lists(st.integers(0, 255)).map(tuple),
    int_constants=st.lists(st.integers(0, 31)).map(tuple),
    early_exit=st.booleans(),
)
EXECUTABLES = st.builds(
    Executable,
    instructions=st.lists(st.tuples(*[WORD] * 6), min_size=1, max_size=20).map(tuple),
    start=SLOT,
    end=SLOT,
    offset=SLOT,
    highest_temporary=st.integers(0, 127),
    fg_depth_src=WORD,
    us_config=WORD,
    us_fc_ctrl=WORD,
    us_w_fmt=WORD,
    uncached_writes=st.booleans(),
    notes=NOTES,
)

SMALL = Executable(
    instructions=((0x00078005, 0, 0, 0, 0, 0x20490000),),
    end=0,
    highest_temporary=3,
    us_config=2,
    notes=Notes(inputs=(0, 5), outputs=(0,), early_exit=True),
)


@given(EXECUTABLES)
def test_what_is_written_is_read_back(executable: Executable) -> None:
    assert read(write(executable)) == executable


def test_real_programs_are_read_back() -> None:
    assert len(SHADERS) == 59
    for path in SHADERS:
        executable = read_shader(path.read_bytes()).executable
        assert read(write(executable)) == executable


def test_the_largest_program_fits_the_image() -> None:
    lists = Notes(inputs=tuple(range(16)), float_constants=tuple(range(256)), int_constants=tuple(range(32)))
    executable = replace(SMALL, instructions=SMALL.instructions * 512, notes=lists)
    data = write(executable)
    assert len(data) < 64 * 1024
    assert read(data) == executable


def test_header_and_notes_are_at_their_offsets() -> None:
    data = write(SMALL)
    assert data[:9] == b"\x7fELF\x01\x01\x01\x62\x01"
    assert struct.unpack_from("<2H5I", data, 16) == (2, 122, 1, 0, 52, len(data) - 6 * 40 - 40, 1)
    assert struct.unpack_from("<8I", data, 52) == (1, 116, 0, 0, 24, 24, 5, 4)
    assert struct.unpack_from("<6I", data, 116) == SMALL.instructions[0]
    assert struct.unpack_from("<3I8s16I", data, 140) == (
        8, 64, 1, b"ATI DPP\0", 1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    assert struct.unpack_from("<3I8s2I", data, 224) == (8, 8, 2, b"ATI DPP\0", 0, 5)
    assert struct.unpack_from("<3I8sI", data, 252) == (8, 4, 3, b"ATI DPP\0", 0)
    assert struct.unpack_from("<3I8sI", data, 276) == (8, 4, 7, b"ATI DPP\0", 1)


@pytest.mark.skipif(shutil.which("readelf") is None, reason="binutils are not installed")
@pytest.mark.parametrize("executable", [SMALL, replace(SMALL, notes=Notes())], ids=["notes", "no-notes"])
def test_binutils_accept_the_file(executable: Executable, tmp_path) -> None:
    path = tmp_path / "program.elf"
    path.write_bytes(write(executable))
    result = subprocess.run(["readelf", "-a", "-W", str(path)], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    assert "arning" not in result.stdout and "rror" not in result.stdout and "<corrupt" not in result.stdout
    assert ".note.proginfo" in result.stdout and "ATI DPP" in result.stdout


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


@given(st.data())
def test_a_malformed_file_is_an_elf_error_and_all_others_are_loaded(memory: Memory, data: st.DataObject) -> None:
    contents = bytearray(write(SMALL))
    for _ in range(data.draw(st.integers(0, 4))):
        contents[data.draw(st.integers(0, len(contents) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(contents)), st.integers(0, len(contents))))
    try:
        executable = read(bytes(contents[:cut]))
    except ElfError as error:
        assert str(error).startswith("at offset 0x")
    else:
        memory.write(0, contents[:cut])
        assert isinstance(executable, Executable)
        assert load(memory, 0, "r5xx").code == executable.instructions


def test_every_truncation_is_an_elf_error() -> None:
    data = write(SMALL)
    for size in range(len(data)):
        with pytest.raises(ElfError):
            read(data[:size])


@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_an_elf_error(contents: bytes, with_magic: bool) -> None:
    with pytest.raises(ElfError):
        read(b"\x7fELF\x01\x01\x01\x62\x01" + contents if with_magic else contents)


def patched(offset: int, *words: int, data: bytes | None = None) -> bytes:
    contents = bytearray(data or write(SMALL))
    struct.pack_into(f"<{len(words)}I", contents, offset, *words)
    return bytes(contents)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"MZ" + bytes(60), "at offset 0x0: no ELF file: Magic number does not match"),
        (patched(4, 0x62010201), "at offset 0x4: the file is not of class ELFCLASS32 with data encoding ELFDATA2LSB"),
        (patched(4, 0x61010101), "at offset 0x7: EI_OSABI is ELFOSABI_ARM instead of 98"),
        (patched(8, 2), "at offset 0x8: EI_ABIVERSION is 2 instead of 1"),
        (patched(16, 0x007A0003), "at offset 0x10: e_type is ET_DYN instead of ET_EXEC"),
        (patched(16, 0x00030002), "at offset 0x12: e_machine is EM_386 instead of 122"),
        (patched(36, 0), "at offset 0x24: e_flags is 0 instead of 1"),
        (patched(52, 6), "at offset 0x34: no code segment (PT_LOAD) in the program headers"),
        (patched(84, 1), "at offset 0x54: a second code segment (PT_LOAD)"),
        (patched(56, 118), "at offset 0x76: the code segment does not start at a multiple of 4"),
        (patched(68, 25), "at offset 0x74: 25 bytes of code are not 1 to 512 instructions"),
        (
            patched(232, 1, data=patched(148, 9)),
            "at offset 0xe0: the program information has 2 words instead of 16",
        ),
        (patched(160, 2), "at offset 0x8c: word 0 of the program information is 2 instead of 1"),
        (patched(148, 9), "at offset 0x0: no program information note"),
        (patched(232, 3), "at offset 0xfc: a second note OUTPUTS"),
        (patched(244, 16), "at offset 0xe0: in the note INPUTS: input 16 is not 0..15"),
        (patched(276, 8, 40), "at offset 0x114: a note reaches past the end of its segment"),
        (patched(296, 2), "at offset 0x114: the note EARLY_EXIT is not one word, 0 or 1"),
    ],
)
def test_messages(data: bytes, message: str) -> None:
    with pytest.raises(ElfError) as caught:
        read(data)
    assert str(caught.value) == message
