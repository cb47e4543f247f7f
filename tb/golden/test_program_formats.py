"""The PE's program loader by the table of formats: an invented kind beside R5xx, on a machine of either kind."""

from dataclasses import replace

import pytest

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.isa.status import Status
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import Image, load
from ctm.sim.memory import Memory
from ctm.tb.lib.program_formats import FORMAT, INFORMATION, INVENTED, code_of, invent, invented_file

BASE = 0x10000
R5XX = write(Executable(instructions=((0, 1, 2, 3, 4, 5),), end=0))
R5XX_NOTE = (NoteType.PROGRAM_INFORMATION, (1, *[0] * 15))
OWN_NOTE = (FORMAT.information, INFORMATION)
MOST_IN_R5XX_IMAGE = 8000


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    invent(monkeypatch)


def loaded(image: bytes, kind: str) -> Image:
    memory = Memory()
    memory.write(BASE, image)
    return load(memory, BASE, kind)


def refusal(image: bytes, kind: str) -> str:
    with pytest.raises(MachineError) as caught:
        loaded(image, kind)
    assert caught.value.status is Status.BAD_EXECUTABLE
    return caught.value.detail


@pytest.mark.parametrize("units", [1, 3, MOST_IN_R5XX_IMAGE, 8192])
def test_a_program_of_another_kind_is_loaded_by_its_own_format(units: int) -> None:
    image = loaded(invented_file(units), INVENTED)
    assert image == Image(kind=INVENTED, code=code_of(units), information=INFORMATION)


def test_limits_are_those_of_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 to 8192 instructions of 8 bytes" in refusal(invented_file(8193), INVENTED)
    # What is after the code is beyond the image.
    monkeypatch.setitem(PROGRAM_FORMATS, INVENTED, replace(FORMAT, most_units=1 << 20))
    assert "inside 128 KiB" in refusal(invented_file(1 << 14), INVENTED)


def test_the_first_word_is_that_of_the_format() -> None:
    image = invented_file(notes=((FORMAT.information, (1, *INFORMATION[1:])),))
    assert "word 0 of its program information is not 1792" in refusal(image, INVENTED)


def test_a_program_of_a_kind_that_the_cores_are_not_is_an_error_by_name() -> None:
    assert "a program for r5xx, and this machine's cores are invented" in refusal(R5XX, INVENTED)
    assert "a program for invented, and this machine's cores are r5xx" in refusal(invented_file(), "r5xx")


@pytest.mark.parametrize("kind", ["r5xx", INVENTED])
def test_there_must_be_one_program_information_of_all_kinds(kind: str) -> None:
    assert "2 program information notes" in refusal(invented_file(notes=(R5XX_NOTE, OWN_NOTE)), kind)
    assert "0 program information notes" in refusal(invented_file(notes=((NoteType.INPUTS, (1,)),)), kind)


def test_another_machine_number_is_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROGRAM_FORMATS, INVENTED, replace(FORMAT, machine=7))
    assert "its machine is 122 instead of 7" in refusal(invented_file(), INVENTED)
    # To a loader that looks for one machine's programs, the note of another's is none.
    assert "0 program information notes" in refusal(invented_file(), "r5xx")
