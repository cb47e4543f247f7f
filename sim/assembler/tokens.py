"""Splits a source text into statements of tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ctm.sim.assembler.error import Position, Report, SourceError


class Kind(Enum):
    """What a token is."""

    NAME = auto()
    NUMBER = auto()
    DOT = auto()
    """A point with letters or digits: a swizzle, a mask or a directive."""
    STRING = auto()
    """A text in quotes, as JSON has it."""
    MARK = auto()
    END = auto()


@dataclass(frozen=True)
class Token:
    """One token; an END token has no text."""

    kind: Kind
    text: str
    position: Position


_PATTERNS = (
    # A name may begin with digits if an underscore follows them, such as 1_INT.
    (Kind.NAME, r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+_[A-Za-z0-9_]*"),
    (Kind.NUMBER, r"0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"),
    (Kind.DOT, r"\.[A-Za-z0-9_]+"),
    (Kind.STRING, r'"(?:[^"\\]|\\.)*"'),
    (Kind.MARK, r"\|\||->|==|!=|>=|[-+*/|<=!?:,()\[\]{}]"),
)
_TOKEN = re.compile("|".join(f"(?P<{kind.name}>{pattern})" for kind, pattern in _PATTERNS))
_BLANK = re.compile(r"[ \t\r\f\v]+|;.*")
_WORD_CHARACTER = re.compile(r"[A-Za-z0-9_]")

_LONGEST = 100

PARALLEL = "||"
"""Joins the halves of an instruction. A line that begins with it continues the line before."""


def statements(source: str, report: Report) -> Iterator[list[Token]]:
    """The statements of a text, each a list of tokens that ends with an END token; blank lines give none.

    A line that cannot be split is reported and left out.
    """
    statement: list[Token] = []
    for number, line in enumerate(source.split("\n"), start=1):
        try:
            tokens = _tokenize(line, number)
        except SourceError as error:
            report(error)
            continue
        if len(tokens) == 1:
            continue
        if tokens[0].text == PARALLEL and statement:
            statement[-1:] = tokens
            continue
        if statement:
            yield statement
        statement = tokens
    if statement:
        yield statement


def _tokenize(line: str, number: int) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(line):
        blank = _BLANK.match(line, at)
        if blank:
            at = blank.end()
            continue
        position = Position(number, at + 1)
        match = _TOKEN.match(line, at)
        if match is None:
            raise SourceError(f"the character {line[at]!r} means nothing here", position)
        kind = Kind[str(match.lastgroup)]
        if kind is Kind.NUMBER and _WORD_CHARACTER.match(line, match.end()):
            raise SourceError("a number runs into letters", position)
        if len(match.group()) > _LONGEST and kind is not Kind.STRING:
            raise SourceError(f"a word of more than {_LONGEST} characters", position)
        tokens.append(Token(kind, match.group(), position))
        at = match.end()
    end = len(line[: line.find(";")] if ";" in line else line) + 1
    tokens.append(Token(Kind.END, "", Position(number, end)))
    return tokens
