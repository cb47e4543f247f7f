"""Parses a source text: directives first, then labels and instructions."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r5xx.parser.directives import Directives
from ctm.sim.assembler.r5xx.parser.statement import WORD_DIRECTIVE, Item, parse_statement
from ctm.sim.assembler.tokens import Kind, Token, statements

_EQU = ".equ"
_REGISTER = re.compile(r"[rcibo][0-9]+", re.IGNORECASE)

TOO_MANY = f"a program has at most {INSTRUCTION_SLOTS} instructions"

Report = Callable[[SourceError], None]


@dataclass
class Source:
    """A parsed text. `labels` maps names to slots; a slot behind the last item is the end of the code."""

    items: list[Item] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    directives: Directives = field(default_factory=Directives)
    aliases: dict[str, list[Token]] = field(default_factory=dict)


def parse(text: str, report: Report) -> Source:
    """Parse a text; every statement that is wrong is reported and left out.

    Of a text with more instructions than a program can have, only the first that is too many is reported.
    """
    source = Source()
    found = []
    instructions = 0
    for statement in statements(text, report):
        labels, tokens = _split_labels(statement)
        instructions += tokens[0].kind is not Kind.END and not _is_directive(tokens)
        if instructions > INSTRUCTION_SLOTS:
            report(SourceError(TOO_MANY, tokens[0].position))
            return source
        found.append((labels, tokens))
    for step in (_directive, _instruction):
        for labels, tokens in found:
            try:
                step(source, labels, tokens)
            except SourceError as error:
                report(error)
    return source


def _split_labels(tokens: list[Token]) -> tuple[list[Token], list[Token]]:
    """The labels that a statement begins with, and the rest."""
    at = 0
    while tokens[at].kind is Kind.NAME and tokens[at + 1].text == ":":
        at += 2
    return tokens[:at:2], tokens[at:]


def _is_directive(tokens: list[Token]) -> bool:
    return tokens[0].kind is Kind.DOT and tokens[0].text.lower() != WORD_DIRECTIVE


def _directive(source: Source, labels: list[Token], tokens: list[Token]) -> None:
    if not _is_directive(tokens):
        return
    cursor = Cursor(tokens, source.aliases)
    if tokens[0].text.lower() == _EQU:
        _define(source, cursor)
    else:
        source.directives.parse(cursor)
        cursor.expect_end()


def _define(source: Source, cursor: Cursor) -> None:
    """`.equ name = tokens`: the name stands for the tokens from now on."""
    cursor.take()
    name = cursor.expect_name("a name")
    if _REGISTER.fullmatch(name.text):
        cursor.fail_at(f"{name.text} is a register", name.position)
    if name.text in source.aliases:
        cursor.fail_at(f"{name.text} was defined before", name.position)
    cursor.expect("=")
    meaning: list[Token] = []
    while not cursor.at_end:
        cursor.expand_alias()
        meaning.append(cursor.take())
    if not meaning:
        cursor.fail("expected what the name stands for")
    source.aliases[name.text] = meaning


def _instruction(source: Source, labels: list[Token], tokens: list[Token]) -> None:
    for label in labels:
        if label.text in source.labels:
            raise SourceError(f"the label {label.text} was defined before", label.position)
        source.labels[label.text] = len(source.items)
    if tokens[0].kind is not Kind.END and not _is_directive(tokens):
        cursor = Cursor(tokens, source.aliases)
        source.items.append(parse_statement(cursor, uncached_writes=source.directives.uncached_writes))
