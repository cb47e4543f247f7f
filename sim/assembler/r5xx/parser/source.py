"""Parses a source text: directives first, then labels and instructions."""

import re
from dataclasses import dataclass, field

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.sim.assembler.error import Report, SourceError
from ctm.sim.assembler.r5xx.parser.directives import Directives
from ctm.sim.assembler.r5xx.parser.statement import WORD_DIRECTIVE, Item, parse_statement
from ctm.sim.assembler.text import Line, Names, each, lines

_REGISTER = re.compile(r"[rcibo][0-9]+", re.IGNORECASE)

TOO_MANY = f"a program has at most {INSTRUCTION_SLOTS} instructions"


@dataclass
class Source(Names):
    """A parsed text. `labels` maps names to slots; a slot after the last item is the end of the code."""

    items: list[Item] = field(default_factory=list)
    directives: Directives = field(default_factory=Directives)

    def take_directive(self, line: Line) -> None:
        """Take in a statement if it is a directive."""
        if not _is_directive(line):
            return
        if not self.common(line, _REGISTER):
            cursor = self.cursor(line)
            self.directives.parse(cursor)
            cursor.expect_end()

    def take_instruction(self, line: Line) -> None:
        """Take in a statement's labels, and its instruction if it is one."""
        self.label(line, len(self.items))
        if _is_instruction(line):
            self.items.append(parse_statement(self.cursor(line), uncached_writes=self.directives.uncached_writes))


def parse(text: str, report: Report) -> Source:
    """Parse a text; every statement that is wrong is reported and left out.

    Of a text with more instructions than a program can have, only the first that is too many is reported.
    """
    source = Source()
    found: list[Line] = []
    instructions = 0
    for line in lines(text, report):
        instructions += _is_instruction(line)
        if instructions > INSTRUCTION_SLOTS:
            report(SourceError(TOO_MANY, line.tokens[0].position))
            return source
        found.append(line)
    for step in (source.take_directive, source.take_instruction):
        each(found, step, report)
    return source


def _is_directive(line: Line) -> bool:
    return line.directive not in (None, WORD_DIRECTIVE)


def _is_instruction(line: Line) -> bool:
    return not line.is_empty and not _is_directive(line)
