"""Line tables of programs from text: what they say, the directives that say otherwise, and their encoding."""

from pathlib import Path

import pytest

from ctm.sim.assembler import AssemblyError, assemble, assemble_listing, disassemble
from ctm.sim.compiler import compile_kernel
from ctm.sim.elf import ElfError, Executable, ShaderError, describe, read, read_shader, write
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.sources import checksum, shown, source_text, with_lines, with_texts
from ctm.sim.jobs.loading import load_job

TOP = Path(__file__).parents[2]
DATA = TOP / "tb" / "data"
R5XX = "\n    ALU r1 = MOV(r0)\n    ALU r2.rgb = MOV(r1)\n    || r2.a = MOV(r1)\n    OUT o0 = MOV(r2)\n"
R700 = """.isa r700
    0 x: ADD R1.x, R0.x, 3.25
      y: ADD R1.y, R0.y, 4.25
    LD R2.xyzw, R0.xy00, t0, s0 UNNORM
    EXPORT PIX0, R2.xyzw
"""


def numbers(executable: Executable) -> list[int | None]:
    assert executable.lines is not None
    return [line and line.line for line in executable.lines.units]


def returns(executable: Executable) -> None:
    """The text gives the same bytes, whatever it is called, and whether it prints sources."""
    data = write(executable)
    for sources in (False, True):
        again = assemble(disassemble(read(data), sources=sources), name="again.s")
        assert write(again) == data
    assert disassemble(read(data)) == disassemble(read(write(again)))


@pytest.mark.parametrize(("text", "lines"), [(R5XX, [2, 3, 5]), (R700, [2, 4, 5, 5, 2, 3, 3, 4, 4, 4])])
def test_units_have_the_lines_of_the_text(text: str, lines: list[int]) -> None:
    executable = assemble(text, name="folder/a.s")
    assert executable.lines is not None
    assert executable.lines.files == ("folder/a.s",)
    found = numbers(executable)
    assert [line for line in found if line] == list(assemble_listing(text).lines)
    if executable.kind == "r5xx":
        assert found == lines
    assert executable.lines.checksums == {"folder/a.s": checksum(text)}
    assert source_text(executable.lines, Line("folder/a.s", 2)) == text.split("\n")[1].strip()
    returns(executable)


def test_a_line_may_come_from_elsewhere_or_from_nowhere() -> None:
    found = assemble(
        '.file "k.c" 0x1234\n.line 7\nALU r1 = MOV(r0)\n.line none\nALU r1 = MOV(r1)\n'
        '.line "k.h" 3\nALU r1 = MOV(r1)\nOUT\n'
    )
    assert found.lines == Lines((Line("k.c", 7), None, *[Line("k.h", 3)] * 2), {"k.c": 0x1234})
    returns(found)


def test_units_of_one_instruction_may_have_a_line_each() -> None:
    text = '.isa r700\n.manual\n.gprs 3\n.file "a"\n.line 1, "b" 2, none\n.unit 0, 0x80000000\n'
    found = assemble(text + "    LD R2.xyzw, R0.xy00, t0, s0 UNNORM\n.line 4\n    NOP END_OF_PROGRAM\n")
    assert found.lines is not None
    assert found.lines.units == (Line("a", 1), Line("a", 1), Line("b", 2), Line("a", 4))
    table = Lines((Line("a", 1), Line("a", 2), Line("b", 2), None), {"b": 5})
    executable = with_lines(found, table)
    returns(executable)


def test_the_names_of_files_may_be_any() -> None:
    for name in ('a "b".s', "a\\b;c.s", "\u00e9\u4e2d.s", "a\tb\nc", "|| x"):
        returns(assemble(R5XX, name=name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".line 3\nOUT", "1:7: a file must be named before"),
        ('.file "a\nOUT', "1:7: the character '\"' means nothing here"),
        ('.file ""\nOUT', '1:7: "" is no name of a file'),
        ('.file "\\q"\nOUT', "is no name of a file"),
        ('.file "\\ud800"\nOUT', "is no name of a file"),
        (".file a\nOUT", "1:7: expected a file's name in quotes, not 'a'"),
        ('.file "a" -1\nOUT', "1:11: expected a checksum, not '-'"),
        ('.file "a"\n.line 0\nOUT', "2:7: lines are counted from 1"),
        ('.file "a"\n.line 1 2\nOUT', "2:9: expected the end of the statement, not '2'"),
        ('.file "a"\n.line x\nOUT', "2:7: expected a line, or none, not 'x'"),
    ],
)
def test_a_wrong_directive_is_an_error_with_its_location(text: str, message: str) -> None:
    for head in ("", ".isa r700\n"):
        with pytest.raises(AssemblyError) as caught:
            assemble(head + text.replace("OUT", "NOP" if head else "OUT"), name="a.s")
        assert message.split(": ", 1)[-1] in str(caught.value)
        if not head:
            assert message in str(caught.value)


def test_a_program_without_lines_remains_without() -> None:
    for text in (R5XX, R700):
        executable = with_lines(assemble(text), None)
        assert ".line none" in disassemble(executable)
        assert assemble(disassemble(executable)).lines is None
        returns(executable)


def test_the_table_has_to_fit_the_code() -> None:
    with pytest.raises(ValueError, match="a line table of 1 for 3 instructions"):
        with_lines(assemble(R5XX), Lines((None,)))


def test_constants_come_back() -> None:
    text = ".constant c3 = 1.5, -0.25, 0, 0x7fc00001\n.constant i2 = 16, 3, -1\nOUT o0 = MOV(c3)\n"
    own = assemble(text).own_constants
    assert own.floats == {3: (0x3FC00000, 0xBE800000, 0, 0x7FC00001)}
    assert own.ints == {2: 0xFF0310}
    returns(assemble(text))
    assert read(write(assemble(text))).own_constants == own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".constant r3 = 1", "expected c0 to c255 or i0 to i31, not 'r3'"),
        (".constant c256 = 1", "not 'c256'"),
        (".constant c1 = 1, 2, 3", "expected ',', not the end of the line"),
        (".constant c1 = 1, 2, 3, 1e39", "1e39 is too large for a float"),
        (".constant i1 = 1, 2, 128", "the step of aL must be -128..127, not 128"),
        (".constant i1 = -1, 2, 1", "the count must be 0..255, not -1"),
        (".constant i1 = 1, 2, 1\n.constant i1 = 1, 2, 1", "i1 has a value already"),
    ],
)
def test_a_wrong_constant_is_an_error(text: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(text + "\nOUT")
    assert message in str(caught.value)


def test_names_say_nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "a" / "b.s")) == "a/b.s"
    assert shown("/elsewhere/b.s") == "b.s"
    assert shown("../b.s") == "../b.s"
    assert shown("<stdin>") == "<stdin>"


def test_a_source_is_shown_while_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.s").write_text(R5XX)
    executable = read(write(assemble(R5XX, name="a.s")))
    assert executable.lines is not None
    line = Line("a.s", 2)
    assert source_text(executable.lines, line) == "ALU r1 = MOV(r0)"
    (tmp_path / "a.s").write_bytes(R5XX.replace("\n", "\r\n").encode())
    assert source_text(executable.lines, line) == "ALU r1 = MOV(r0)"
    assert "; ALU r1 = MOV(r0)" in disassemble(with_texts(executable), sources=True)
    (tmp_path / "a.s").write_text("\n" + R5XX)
    assert source_text(executable.lines, line) is None
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.s").write_text(R5XX)
    assert source_text(executable.lines, line, [tmp_path / "sub"]) == "ALU r1 = MOV(r0)"
    assert source_text(executable.lines, Line("a.s", 99), [tmp_path / "sub"]) is None


def test_a_description_says_whether_there_are_lines() -> None:
    executable = assemble(R700, name="a.s")
    assert (describe(executable)["line_table"], describe(executable)["sources"]) == (True, {"a.s": 4})
    bare = describe(with_lines(executable, None))
    assert (bare["line_table"], bare["sources"]) == (False, {})


SOURCES = sorted(
    path for path in (*TOP.glob("examples/**/*.s"), *DATA.glob("**/*.s")) if not path.match("r700/torus/*.s")
)
"""All but programs of a draw, which have to be linked."""
KERNELS = sorted([*DATA.glob("kernels/*.c"), *TOP.glob("examples/*/[a-z]*.c"), TOP / "examples/blur/blur.py",
                  TOP / "examples/r700/sha256/sha256.py"])  # fmt: skip
SHADERS = sorted(DATA.glob("r*/**/*.json"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_assembled_programs_return(path: Path) -> None:
    executable = assemble(path.read_text(), name=str(path))
    returns(executable)
    returns(with_lines(executable, None))


def test_programs_of_a_draw_return() -> None:
    executable = load_job(TOP / "examples/r700/torus/torus.toml").launches[0].program.executable
    assert executable.lines is not None and set(executable.lines.checksums) == {"torus_ps.s", "torus_vs.s"}
    returns(executable)
    returns(with_lines(executable, None))


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
def test_compiled_kernels_return(isa: str, is_long: bool) -> None:
    compiled, every = 0, 1 if is_long else 4
    for path in KERNELS[::every]:
        try:
            executable = compile_kernel(path, isa=isa).executable
        except Exception:
            continue
        assert executable.lines is not None
        assert all(executable.lines.units) or isa == "r700"
        returns(executable)
        compiled += 1
    assert compiled >= {"r5xx": 12 // every, "r700": len(KERNELS[::every])}[isa]


@pytest.mark.slow
def test_programs_of_other_compilers_return(is_long: bool) -> None:
    count, every = 0, 1 if is_long else 4
    for path in SHADERS[::every]:
        try:
            executable = read_shader(path.read_bytes()).executable
            data = write(executable)
        except (ShaderError, ElfError):
            continue
        assert write(assemble(disassemble(executable))) == data, path
        count += 1
    assert count > 200 // every
