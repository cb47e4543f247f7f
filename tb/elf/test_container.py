"""The container of executables: every kind of program that the table of formats has, and files of none or of two."""

from dataclasses import replace

import pytest

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.sim.elf import ElfError, read, write
from ctm.sim.elf.container.reader import read_container
from ctm.sim.elf.r5xx.executable import Executable
from ctm.tb.lib.program_formats import FORMAT, INFORMATION, INVENTED, code_of, invent, invented_file

R5XX_NOTE = (NoteType.PROGRAM_INFORMATION, (1, *[0] * 15))


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    invent(monkeypatch)


@pytest.mark.parametrize("units", [1, 3, 8192])
def test_what_was_written_is_read(units: int) -> None:
    notes = ((FORMAT.information, INFORMATION), (NoteType.INPUTS, (2, 5)))
    found = read_container(invented_file(units, notes))
    assert (found.kind, found.code, found.information) == (INVENTED, code_of(units), INFORMATION)
    assert {kind: note.words for kind, note in found.notes.items()} == dict(notes)


def test_a_kind_is_told_by_its_program_information() -> None:
    executable = Executable(instructions=((0, 1, 2, 3, 4, 5),), end=0)
    assert read_container(write(executable)).kind == executable.kind
    assert read(write(executable)) == executable


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (invented_file(8193), "65544 bytes of code are not 1 to 8192 instructions"),
        (invented_file(notes=()), "no program information note"),
        (invented_file(notes=((FORMAT.information, INFORMATION[:-1]),)), "15 words instead of 16"),
        (invented_file(notes=((FORMAT.information, (1, *INFORMATION[1:])),)), "is 1 instead of 1792"),
        (invented_file(notes=(R5XX_NOTE, (FORMAT.information, INFORMATION))), "several kinds: r5xx, invented"),
        # An R5xx program, whose image is smaller: its notes lie beyond.
        (invented_file(8192, notes=(R5XX_NOTE,)), "past the end of the image at 0x10000"),
    ],
)
def test_what_no_loader_would_take_is_an_elf_error(file: bytes, message: str) -> None:
    with pytest.raises(ElfError, match=message):
        read_container(file)


def test_a_program_that_only_the_table_knows_is_named() -> None:
    with pytest.raises(ElfError, match="a program for invented, which cannot be read"):
        read(invented_file())


def test_the_machine_is_that_of_some_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROGRAM_FORMATS, INVENTED, replace(FORMAT, machine=7))
    with pytest.raises(ElfError, match="no program information note"):
        read_container(invented_file())
    for kind in ("r5xx", "r700"):
        monkeypatch.setitem(PROGRAM_FORMATS, kind, replace(PROGRAM_FORMATS[kind], machine=9))
    with pytest.raises(ElfError, match="e_machine is 122 instead of 7 or 9"):
        read_container(invented_file())
