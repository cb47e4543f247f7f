"""Executables of R700 programs: written, read, damaged; the machine's loader takes what the reader takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf import ElfError, read, write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r700.image import information_of
from ctm.sim.memory import Memory

SMALL = Executable(code=((2, 0xA0000000), (0, 0x80200000), (0x80000000, 0x19 << 7)), stack_size=3, gprs=5)
WORD = st.integers(0, (1 << 32) - 1)
EXECUTABLES = st.builds(
    Executable,
    code=st.lists(st.tuples(WORD, WORD), min_size=1, max_size=20).map(tuple),
    type=st.sampled_from(ProgramType),
    gprs=st.integers(1, 124),
    stack_size=st.integers(0, 64),
    dx10_clamp=st.booleans(),
    depth=st.booleans(),
    memory=st.booleans(),
    scratch=st.booleans(),
    texture_base=WORD,
    lds_dwords=st.integers(0, 256).map(lambda rows: 4 * rows),
)


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


@given(EXECUTABLES)
def test_what_was_written_is_read_by_both(memory: Memory, executable: Executable) -> None:
    data = write(executable)
    assert read(data) == executable
    memory.write(0, data)
    image = load(memory, 0, "r700")
    assert image.code == executable.code
    information = information_of(image)
    for name in ("type", "start", "gprs", "stack_size", "dx10_clamp", "depth", "memory", "scratch", "texture_base"):
        assert getattr(information, name) == getattr(executable, name)
    assert information.lds_dwords == executable.lds_dwords


@given(st.data())
def test_a_damaged_file_is_an_error_or_loaded_by_both(memory: Memory, drawn: st.DataObject) -> None:
    contents = bytearray(write(SMALL))
    for _ in range(drawn.draw(st.integers(0, 4))):
        contents[drawn.draw(st.integers(0, len(contents) - 1))] = drawn.draw(st.integers(0, 255))
    cut = drawn.draw(st.one_of(st.just(len(contents)), st.integers(0, len(contents))))
    try:
        executable = read(bytes(contents[:cut]))
    except ElfError as error:
        assert str(error).startswith("at offset 0x")
        return
    if executable.kind == "r700":
        assert isinstance(executable, Executable)
        memory.write(0, bytes(contents[:cut]))
        image = load(memory, 0, "r700")
        information_of(image)
        assert image.code == executable.code


def test_every_truncation_is_an_error_for_both(memory: Memory) -> None:
    data = write(SMALL)
    for size in range(len(data)):
        with pytest.raises(ElfError):
            read(data[:size])
    note = data.index(b"ATI DPP\x00") - 12
    memory.write(0, bytes(4096))
    memory.write(0, data[: note + 24])
    with pytest.raises(MachineError):
        information_of(load(memory, 0, "r700"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gprs": 0}, "NUM_GPRS is 0, not 1..124"),
        ({"gprs": 125}, "NUM_GPRS is 125, not 1..124"),
        ({"stack_size": 65}, "STACK_SIZE is 65, not 0..64"),
        ({"start": 3}, "CF_START is 3, not 0..2"),
        ({"lds_dwords": 6}, "LDS_DWORDS is 6, not 0..1024, a multiple of 4"),
        ({"lds_dwords": 1028}, "LDS_DWORDS is 1028, not 0..1024"),
        ({"code": ()}, "1 to 8192 units of code, not 0"),
        ({"code": ((0,),)}, "unit 0 is not 2 words"),
        ({"code": ((0, 1 << 32),)}, "unit 0 is not 2 words"),
    ],
)
def test_an_illegal_program_cannot_be_made(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        Executable(**{"code": SMALL.code, **change})  # type: ignore[arg-type]
