"""The line table of an object: DWARF's .debug_line, which LLVM writes for kernels that are compiled with -g."""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.sim.elf.lines import Line

_ZERO_BASED = 5
"""The version of DWARF from which on files count from 0."""


def lines_of(file: ELFFile, first: int, units: int) -> list[Line | None]:
    """The line of each unit of a function that begins at byte `first` of .text; none where the table is malformed."""
    try:
        rows = sorted(_rows(file), key=lambda row: row[0])
    except (ELFError, DWARFError, struct.error, LookupError, ValueError, TypeError, AttributeError, AssertionError):
        rows = []
    addresses = [address for address, _ in rows]
    found: list[Line | None] = []
    for unit in range(units):
        index = bisect_right(addresses, first + UNIT_BYTES * unit)
        found.append(rows[index - 1][1] if index else None)
    return found


def _rows(file: ELFFile) -> Iterator[tuple[int, Line | None]]:
    """Addresses, and the line from there on."""
    if not file.has_dwarf_info(strict=True):
        return
    # What is to be relocated are addresses in .text, which is at 0.
    information = file.get_dwarf_info(relocate_dwarf_sections=False)
    for unit in information.iter_CUs():
        program = information.line_program_for_CU(unit)
        if program is None:
            continue
        names: dict[int, str] = {}
        for entry in program.get_entries():
            state = entry.state
            if state is not None:
                if state.end_sequence or not state.line:
                    yield state.address, None
                    continue
                if state.file not in names:
                    names[state.file] = _file(program.header, state.file)
                yield state.address, Line(names[state.file], state.line)


def _file(header: Mapping[str, Any], number: int) -> str:
    entry = header["file_entry"][number - (header["version"] < _ZERO_BASED)]
    name = PurePath(entry["name"].decode())
    if header["version"] >= _ZERO_BASED and not name.is_absolute():
        name = PurePath(header["include_directory"][entry["dir_index"]].decode()) / name
    return str(name)
