"""An invented kind of program beside R5xx: what knows programs by the table of formats has to know it too."""

import pytest

from ctm.rtl.isa.executable import NoteType, ProgramFormat
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.sim.elf.container.writer import write_container

INVENTED = "invented"
FORMAT = ProgramFormat(
    machine=PROGRAM_FORMATS["r5xx"].machine,
    information=NoteType.EARLY_EXIT,
    version=0x700,
    unit_bytes=8,
    most_units=8192,
    image_limit=128 * 1024,
)
INFORMATION = (FORMAT.version, *range(100, 115))


def invent(monkeypatch: pytest.MonkeyPatch, program_format: ProgramFormat = FORMAT) -> None:
    """Let there be the invented kind until the test ends."""
    monkeypatch.setitem(PROGRAM_FORMATS, INVENTED, program_format)


def code_of(units: int) -> tuple[tuple[int, int], ...]:
    """So many units of code."""
    return tuple((unit, unit ^ 0xFFFF_FFFF) for unit in range(units))


def invented_file(
    units: int = 3, notes: tuple[tuple[NoteType, tuple[int, ...]], ...] = ((FORMAT.information, INFORMATION),)
) -> bytes:
    """An executable of the invented kind."""
    return write_container(code_of(units), notes, machine=FORMAT.machine)
