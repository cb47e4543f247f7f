"""Line tables: from a kernel's source into the executable's notes, to the disassembler and back through the reader."""

import re
import struct
from pathlib import Path

import pytest

from ctm.sim.assembler import assemble, disassemble
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import ElfError, read, write
from ctm.sim.elf.container.tool_notes import TOOL_NAME
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.sources import with_lines
from ctm.tb.cli.invocation import ctm

TEXT = """#include <ctm/kernel.h>
static float third(float x) {
    return x * x * x;
}
kernel void k(vec2 pixel) {
    float y = third(pixel.x);
    if (y > 10)
        y = texel(0, pixel.y, y).x;
    output(0, y);
    write(3, y);
}
""".replace("output(0", "output(1")


def program(text: str = TEXT) -> Executable:
    found = compile_kernel(Source(text, "dir/k.c")).executable
    assert isinstance(found, Executable)
    return found


def test_every_unit_of_a_program_has_its_line() -> None:
    lines = program().lines
    assert lines is not None
    assert {line.file for line in lines.units if line} == {"dir/k.c"}
    assert {3, 7, 8, 9, 10} <= {line.line for line in lines.units if line}


def test_instructions_stand_beside_their_lines() -> None:
    text = disassemble(program())
    for pattern, line in ((r"MUL_IEEE", 3), (r"SAMPLE", 8), (r"EXPORT_DONE PIX1", 9), (r"MEM_EXPORT", 10)):
        found = re.findall(rf"{pattern}.*; (?:\d+ +| +)(dir/k\.c:\d+)", text)
        assert f"dir/k.c:{line}" in found, pattern
    assert assemble(text) == program()


def test_a_line_table_survives_the_file() -> None:
    executable = program()
    again = read(write(executable))
    assert isinstance(again, Executable)
    assert again.lines == executable.lines
    # It comes back from the text, too; without one there is no note.
    assert write(assemble(disassemble(again))) == write(executable)
    assert TOOL_NAME not in write(with_lines(executable, None))


def test_rows_are_merged_and_units_may_have_no_line() -> None:
    locations = (None, Line("a", 1), Line("a", 1), Line("b", 70_000), None)
    words = Lines(locations).words
    assert words[:2] == (1, 4)
    assert words[2:10] == (0, 0, 1, 1, 3 | 1 << 16, 70_000, 4, 0)


@pytest.mark.parametrize("word", range(8))
def test_a_damaged_table_is_an_error_or_another_table(word: int) -> None:
    contents = bytearray(write(program()))
    at = contents.index(TOOL_NAME) + len(TOOL_NAME) + 4 * word
    for value in (0, 7, 0xFFFF, 0xFFFF_FFFF):
        damaged = bytearray(contents)
        struct.pack_into("<I", damaged, at, value)
        try:
            found = read(bytes(damaged))
        except ElfError as error:
            assert "table of source lines" in str(error)
        else:
            assert isinstance(found, Executable)
            assert found.lines is not None and len(found.lines.units) == len(found.code)


def test_the_table_has_to_fit_the_code() -> None:
    with pytest.raises(ValueError, match="a line table of 1 units for 2 of code"):
        Executable(code=((0, 0), (0, 1 << 21)), lines=Lines((None,)))


def test_the_command_line_lists_lines(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(TEXT)
    assert ctm("cc", tmp_path / "k.c", "-o", tmp_path / "k.elf").exit_code == 0
    shown = ctm("disasm", tmp_path / "k.elf").stdout
    assert " k.c:8\n" in shown and str(tmp_path) not in shown
    assert ".line 8  ; y = texel(0, pixel.y, y).x;\n" in shown
    (tmp_path / "k.c").write_text(TEXT + "\n")
    assert ".line 8\n" in ctm("disasm", tmp_path / "k.elf").stdout
