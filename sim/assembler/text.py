"""What any language of lines has: labels before a statement, names that `.equ` defines, directives."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import Report, SourceError
from ctm.sim.assembler.origins import FILE, LINE, Origins
from ctm.sim.assembler.tokens import Kind, Token, statements

EQU = ".equ"


@dataclass(frozen=True)
class Line:
    """A statement: the labels that it begins with, and its other tokens, at least END."""

    labels: list[Token]
    tokens: list[Token]

    @property
    def is_empty(self) -> bool:
        """Whether there are labels only."""
        return self.tokens[0].kind is Kind.END

    @property
    def directive(self) -> str | None:
        """The directive that it is, in lower case, None where it is none."""
        first = self.tokens[0]
        return first.text.lower() if first.kind is Kind.DOT else None


@dataclass
class Names:
    """What a text defines: labels with their positions, what the names of `.equ` stand for, where code comes from."""

    labels: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, list[Token]] = field(default_factory=dict)
    origins: Origins = field(default_factory=Origins)

    def common(self, line: Line, reserved: re.Pattern[str]) -> bool:
        """Take in a directive that all languages have; whether it is one. `reserved` are names of registers."""
        if line.directive == EQU:
            self.define(self.cursor(line), reserved)
        elif line.directive in (FILE, LINE):
            self.origins.parse(self.cursor(line))
        else:
            return False
        return True

    def cursor(self, line: Line) -> Cursor:
        """A cursor at the statement's beginning, after its labels."""
        return Cursor(line.tokens, self.aliases)

    def label(self, line: Line, index: int) -> None:
        """Define the labels of a statement."""
        for label in line.labels:
            if label.text in self.labels:
                raise SourceError(f"the label {label.text} was defined before", label.position)
            self.labels[label.text] = index

    def define(self, cursor: Cursor, reserved: re.Pattern[str]) -> None:
        """`.equ name = tokens`: the name, which is no register, stands for the tokens from now on."""
        cursor.take()
        name = cursor.expect_name("a name")
        if reserved.fullmatch(name.text):
            cursor.fail_at(f"{name.text} is a register", name.position)
        if name.text in self.aliases:
            cursor.fail_at(f"{name.text} was defined before", name.position)
        cursor.expect("=")
        meaning: list[Token] = []
        while not cursor.at_end:
            cursor.expand_alias()
            meaning.append(cursor.take())
        if not meaning:
            cursor.fail("expected what the name stands for")
        self.aliases[name.text] = meaning


def lines(text: str, report: Report) -> Iterator[Line]:
    """The statements of a text; a line that cannot be split into tokens is reported and left out."""
    for tokens in statements(text, report):
        at = 0
        while tokens[at].kind is Kind.NAME and tokens[at + 1].text == ":":
            at += 2
        yield Line(tokens[:at:2], tokens[at:])


def each(found: list[Line], step: Callable[[Line], None], report: Report) -> None:
    """Take a step for every statement; one that is wrong is reported and left out."""
    for line in found:
        try:
            step(line)
        except SourceError as error:
            report(error)
