"""The rules of the program's note: the file's reader and the machine's loader reject a note that breaks one."""

import pytest

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.r700.program import PROGRAM_FORMAT
from ctm.sim.elf import read
from ctm.sim.elf.container.writer import write_container
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700.machine import Job, run
from ctm.tb.r700.words import word

LEGAL = (0x700, 0, 0, 1, 0, 0, 0, 0, *[0] * 8)
_CODE = [word("NOP", end_of_program=1)] * 3
_MOST = (1 << 32) - 1

BAD = {
    "version": [(0, 0), (0, 0x701), (0, _MOST)],
    "type": [(1, 2), (1, 1 << 31)],
    "CF_START": [(2, 3), (2, 8192), (2, _MOST)],
    "NUM_GPRS": [(3, 0), (3, 125), (3, 128), (3, 257)],
    "STACK_SIZE": [(4, 65), (4, 256), (4, _MOST)],
    "flags": [(5, 1 << bit) for bit in (4, 5, 16, 31)],
    "LDS_DWORDS": [(7, 1), (7, 2), (7, 6), (7, 1025), (7, 1028), (7, _MOST)],
    "reserved words": [(index, 1 << 4 * index - 32) for index in range(8, 16)] + [(8, 1 << 31), (15, 1)],
}
GOOD = [(1, 1), (2, 2), (3, 124), (4, 64), (5, 15), (6, 18), (6, _MOST), (7, 4), (7, 1024)]


def file_with(changes: dict[int, int], code=_CODE, notes=(NoteType.R700_PROGRAM,)) -> bytes:
    words = [changes.get(index, value) for index, value in enumerate(LEGAL)]
    kinds = [(kind, words if kind is NoteType.R700_PROGRAM else [0] * 16) for kind in notes]
    return write_container(code, kinds, machine=PROGRAM_FORMAT.machine)


def status_of(file: bytes) -> str | None:
    error = run(Job(program=file)).error
    return None if error is None else error.status.name


@pytest.mark.parametrize(("index", "value"), [each for changes in BAD.values() for each in changes])
def test_a_value_out_of_range_is_an_error(index: int, value: int) -> None:
    file = file_with({index: value})
    assert status_of(file) == "BAD_EXECUTABLE"
    with pytest.raises(ElfError):
        read(file)


@pytest.mark.parametrize(("index", "value"), GOOD)
def test_legal_values_are_taken(index: int, value: int) -> None:
    file = file_with({index: value})
    # Outputs that programs with these flags need are not there.
    assert status_of(file) == ("BAD_UMRT_FORMAT" if index == 5 else None)
    assert read(file) is not None


@pytest.mark.parametrize(
    "notes",
    [
        (),
        (NoteType.PROGRAM_INFORMATION,),
        (NoteType.PROGRAM_INFORMATION, NoteType.R700_PROGRAM),
        (NoteType.R700_PROGRAM, NoteType.PROGRAM_INFORMATION),
        (NoteType.R700_PROGRAM, NoteType.R700_PROGRAM),
    ],
)
def test_there_is_one_note_of_the_right_kind(notes: tuple[NoteType, ...]) -> None:
    file = file_with({}, notes=notes)
    assert status_of(file) == "BAD_EXECUTABLE"
    with pytest.raises(ElfError):
        read(file)


@pytest.mark.parametrize("units", [1, 8192])
def test_programs_of_all_sizes_are_taken(units: int) -> None:
    file = file_with({2: units - 1}, code=_CODE[:1] * units)
    executable = read(file)
    assert isinstance(executable, Executable)
    assert status_of(file) is None and len(executable.code) == units


def test_a_program_that_is_too_long_is_an_error() -> None:
    file = file_with({}, code=_CODE[:1] * 8193)
    assert status_of(file) == "BAD_EXECUTABLE"
    with pytest.raises(ElfError):
        read(file)


def test_half_a_unit_is_an_error() -> None:
    file = file_with({}, code=[*_CODE, (0,)])
    assert status_of(file) == "BAD_EXECUTABLE"
    with pytest.raises(ElfError):
        read(file)


def test_control_flow_begins_where_the_note_says() -> None:
    code = [word("END_PROGRAM"), word("NOP"), word("NOP", end_of_program=1)]
    assert status_of(file_with({2: 1}, code=code)) is None
    assert run(Job(program=file_with({}, code=code))).fault == ("ILLEGAL_INSTRUCTION", 0, 0, 0, 0)
