"""Languages by name and by kind of program, with an invented one beside that of R5xx."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from ctm.sim.assembler import LANGUAGES, AssemblyError, Language, Listing, assemble, assemble_listing, disassemble
from ctm.sim.assembler.error import Report, SourceError
from ctm.sim.assembler.listing import listing
from ctm.sim.assembler.text import Line, Names, each, lines


@dataclass(frozen=True)
class Words:
    """A program of a language in which each line is a number."""

    kind: ClassVar[str] = "invented"
    numbers: tuple[int, ...]


def parse(text: str, report: Report) -> list[tuple[int, int]]:
    names = Names()
    found: list[tuple[int, int]] = []

    def step(line: Line) -> None:
        names.label(line, len(found))
        if not line.is_empty:
            cursor = names.cursor(line)
            found.append((cursor.position.line, cursor.integer("a number", 100)))
            cursor.expect_end()

    each(list(lines(text, report)), step, report)
    return found


def link(found: list[tuple[int, int]]) -> Listing:
    positions, numbers = zip(*found, strict=True)
    program: Any = Words(numbers)
    return Listing(program, positions)


INVENTED = Language(
    name="words",
    kind="invented",
    assemble=lambda text, name: listing(text, name, parse, link),
    disassemble=lambda program, *, sources: "".join(f"{number}\n" for number in program.numbers),
    statements=lambda program: dict(enumerate(map(str, program.numbers))),
)


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LANGUAGES, INVENTED.name, INVENTED)


def test_each_language_assembles_its_own_text() -> None:
    found = assemble_listing("first: 7\n\nlast: again: 12 ; a comment\n", language="words")
    executable: object = found.executable
    assert (executable, found.lines) == (Words((7, 12)), (1, 3))
    assert assemble("OUT o0 = MOV(r0)").kind == "r5xx"


def test_a_program_is_disassembled_in_the_language_of_its_kind() -> None:
    program = assemble("7\n12\n", language="words")
    assert disassemble(program) == "7\n12\n"
    assert assemble(disassemble(program), language="words") == program
    assert "OUT o0" in disassemble(assemble("OUT o0 = MOV(r0)"))


def test_all_errors_of_a_text_are_told_in_any_language() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble("one: 7\nwhat\n100\none: 8\n9 9", name="x.w", language="words")
    assert [(error.line, error.column) for error in caught.value.errors] == [(2, 1), (3, 1), (4, 1), (5, 3)]
    assert str(caught.value.errors[2]).startswith("x.w:4:1: the label one was defined before\none: 8\n^")


def test_a_language_that_there_is_not_is_an_error_by_name() -> None:
    with pytest.raises(ValueError, match="no language 'basic'; there is: r5xx, r700, words"):
        assemble("", language="basic")


def test_a_source_that_is_no_text_is_an_error() -> None:
    source: Any = b"END"
    with pytest.raises(TypeError, match="a source is a str, and not bytes"):
        assemble(source)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("OUT", "r5xx"),
        (".isa r5xx\nOUT", "r5xx"),
        (".isa r700\nNOP", "r700"),
        ("; a comment\n\n  \t.ISA R700 ; another\nNOP", "r700"),
        ("; .isa r700\nOUT", "r5xx"),
    ],
)
def test_a_text_says_its_language(text: str, kind: str) -> None:
    assert assemble(text).kind == kind


def test_an_instruction_set_that_there_is_not_is_an_error_by_name() -> None:
    with pytest.raises(AssemblyError, match="no instruction set 'r800'; there is: r5xx, r700") as caught:
        assemble("\n  .isa r800 ; new\nNOP", name="x.s")
    assert (caught.value.file, caught.value.line, caught.value.column) == ("x.s", 2, 8)
    assert caught.value.errors[0].source_line == "  .isa r800 ; new"


def test_of_a_long_line_an_error_has_what_is_around_it() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble("OUT o0 = MOV(r0)" + " " * 100_000 + "\x1b[2J" + "x" * 100_000)
    _, line, caret = str(caught.value.errors[0]).splitlines()
    assert len(line) == 200
    assert line[caret.index("^") :].startswith("\ufffd[2Jxxx")


def test_a_text_in_another_language_than_the_one_that_is_named_is_an_error() -> None:
    for text, language in ((".isa r700\nNOP", "r5xx"), (".isa r5xx\nOUT", "r700")):
        with pytest.raises(AssemblyError, match="expected the instruction set of this language"):
            assemble(text, language=language)


def test_an_error_while_linking_is_told_with_its_line() -> None:
    def fail(found: list[tuple[int, int]]) -> Listing:
        position = next(iter(lines("7", lambda error: None))).tokens[0].position
        raise SourceError("it does not fit", position)

    with pytest.raises(AssemblyError, match="it does not fit"):
        listing("7", "x.w", parse, fail)
