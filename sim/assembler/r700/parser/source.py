"""Parses a source text: directives first, then labels and statements in the order of the text."""

from dataclasses import dataclass, field

from ctm.rtl.isa.r700.limits import CODE_UNITS, GROUP_LITERALS, LITERALS_PER_UNIT, UNIT_WORDS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import Report, SourceError
from ctm.sim.assembler.r700.names import ALU_CODES, COMPONENTS, CONTROL_CODES, FETCH_CODES, SLOTS
from ctm.sim.assembler.r700.parser.arithmetic import is_reduction, parse_instruction, parse_reduction
from ctm.sim.assembler.r700.parser.control import parse_word
from ctm.sim.assembler.r700.parser.directives import Directives
from ctm.sim.assembler.r700.parser.fetch import parse_fetch
from ctm.sim.assembler.r700.parser.flow import STATEMENTS, is_statement, parse_statement
from ctm.sim.assembler.r700.parser.numbers import WORD
from ctm.sim.assembler.r700.parser.registers import REGISTER
from ctm.sim.assembler.r700.syntax import Fetch, Group, Instruction, Item, Pack, Unit
from ctm.sim.assembler.text import Line, Names, each, lines
from ctm.sim.assembler.tokens import Kind, Token

UNIT, LITERALS, PACK, ENDPACK, UNCHECKED, CHECKED = (
    ".unit", ".literals", ".pack", ".endpack", ".unchecked", ".checked",
)  # fmt: skip
_IN_CODE = (UNIT, LITERALS, PACK, ENDPACK, UNCHECKED, CHECKED)
"""Directives that mean something where they stand."""
_ANY_SLOT = "?"
_NAMES = {*ALU_CODES, *FETCH_CODES, *CONTROL_CODES, *STATEMENTS}
"""What an instruction may begin with, in lower case."""

TOO_MANY = f"a program has at most {CODE_UNITS} units of code"


@dataclass
class Source(Names):
    """A parsed text. `labels` maps names to items; an item's number that is too large is the end of the text."""

    items: list[Item] = field(default_factory=list)
    directives: Directives = field(default_factory=Directives)
    checked: bool = True
    open: Group | None = None
    """The group that a line with a slot goes on with."""
    pack: Pack | None = None

    def take_directive(self, line: Line) -> None:
        """Take in a statement if it is a directive that may stand anywhere."""
        if not _is_directive(line):
            return
        if not self.common(line, REGISTER):
            self.directives.parse(self.cursor(line))

    def take_statement(self, line: Line) -> None:
        """Take in a statement's labels, and the statement if it is no directive that may stand anywhere."""
        slots = [label for label in line.labels if label.text.lower() in SLOTS]
        labels = [label for label in line.labels if label not in slots]
        if slots and (slots != [line.labels[-1]] or line.is_empty):
            raise SourceError(
                f"a slot stands before its instruction; no label can be {slots[0].text}", slots[0].position
            )
        if labels:
            if self.pack is not None:
                raise SourceError(f"a label inside {PACK}", labels[0].position)
            self.open = None
            self.label(Line(labels, line.tokens), len(self.items))
        if line.is_empty or _is_directive(line):
            return
        if line.directive in _IN_CODE:
            self._directive_in_code(line)
        else:
            self._statement(line, slots[0] if slots else None)

    def _statement(self, line: Line, slot: Token | None) -> None:
        """An ALU instruction, or what ends a group."""
        cursor = self.cursor(line)
        numbered = cursor.accept_kind(Kind.NUMBER) is not None
        if numbered and slot is not None:
            cursor.fail_at("the group's number stands before the slot", slot.position)
        name = self._slot(cursor, slot)
        if name is not None or numbered:
            self._alu(line, cursor, None if name == _ANY_SLOT else name, numbered=numbered)
            return
        cursor.expand_alias()
        text = cursor.token.text.lower()
        if cursor.token.kind is Kind.NAME and text in ALU_CODES and text not in CONTROL_CODES:
            self._alu(line, cursor, None, numbered=True)
            return
        if text not in _NAMES:
            cursor.fail_unknown("an instruction (x: ADD, SAMPLE, EXPORT, IF, JUMP, ...)", _NAMES)
        self._end_group(cursor)
        if text in FETCH_CODES:
            self.items.append(Fetch(cursor.position, parse_fetch(cursor), self.checked))
        elif is_statement(cursor):
            self.items.append(parse_statement(cursor))
        else:
            self.items.append(parse_word(cursor, checked=self.checked))

    def _slot(self, cursor: Cursor, slot: Token | None) -> str | None:
        """The slot in front of an instruction, None if there is none."""
        if slot is not None:
            return slot.text.lower()
        if (cursor.next_is(*SLOTS) or cursor.next_is(_ANY_SLOT)) and cursor.followed_by(":"):
            text = cursor.take().text.lower()
            cursor.take()
            return text
        return None

    def _alu(self, line: Line, cursor: Cursor, name: str | None, *, numbered: bool) -> None:
        """An instruction of the open group, or of a new one: without a slot, and inside .pack, it is alone."""
        if self.open is None or numbered or self.pack is not None:
            self.open = Group(cursor.position, checked=self.checked)
            (self.items if self.pack is None else self.pack.groups).append(self.open)
        group = self.open
        try:
            opcode = ALU_CODES.get(cursor.token.text.lower())
            if name is None and opcode is not None and is_reduction(opcode):
                group.instructions += self._reduction(line)
            else:
                group.instructions.append(parse_instruction(cursor, None if name is None else SLOTS.index(name)))
        except SourceError:
            group.is_broken = True
            raise

    def _reduction(self, line: Line) -> list[Instruction]:
        found = []
        for component in range(len(COMPONENTS)):
            cursor = self.cursor(line)
            cursor.accept_kind(Kind.NUMBER)
            self._slot(cursor, None)
            found.append(parse_reduction(cursor, component))
        return found

    def _end_group(self, cursor: Cursor) -> None:
        self.open = None
        if self.pack is not None:
            cursor.fail(f"only ALU instructions can be packed: write {ENDPACK} before this")

    def _directive_in_code(self, line: Line) -> None:
        cursor = self.cursor(line)
        token = cursor.take()
        name = token.text.lower()
        if name == LITERALS:
            self._literals(cursor, token)
        else:
            self.open = None
            if name in (UNCHECKED, CHECKED):
                self.checked = name == CHECKED
            elif name == UNIT:
                self._unit(cursor, token)
            else:
                self._pack(cursor, token, begins=name == PACK)
        cursor.expect_end()

    def _literals(self, cursor: Cursor, token: Token) -> None:
        if self.open is None or self.open.literals is not None:
            cursor.fail_at(f"{LITERALS} stands after the instructions of a group, once", token.position)
        words = _words(cursor)
        if len(words) > GROUP_LITERALS or len(words) % LITERALS_PER_UNIT:
            cursor.fail_at(f"a group has {LITERALS_PER_UNIT} or {GROUP_LITERALS} words of literals", token.position)
        self.open.literals = words

    def _unit(self, cursor: Cursor, token: Token) -> None:
        self._end_group(cursor)
        words = _words(cursor)
        if len(words) != UNIT_WORDS:
            cursor.fail_at(f"a unit is {UNIT_WORDS} words of 32 bits", token.position)
        self.items.append(Unit(token.position, (words[0], words[1])))

    def _pack(self, cursor: Cursor, token: Token, *, begins: bool) -> None:
        if begins == (self.pack is not None):
            cursor.fail_at(f"{PACK} inside {PACK}" if begins else f"{ENDPACK} without {PACK}", token.position)
        self.pack = Pack(token.position) if begins else None
        if self.pack is not None:
            self.items.append(self.pack)


def parse(text: str, report: Report) -> Source:
    """Parse a text; every statement that is wrong is reported and left out.

    Of a text with more statements than a program can have units, only the first that is too many is reported.
    """
    source = Source()
    found: list[Line] = []
    statements = 0
    for line in lines(text, report):
        statements += not line.is_empty and line.directive is None
        if statements > CODE_UNITS:
            report(SourceError(TOO_MANY, line.tokens[0].position))
            return source
        found.append(line)
    for step in (source.take_directive, source.take_statement):
        each(found, step, report)
    if source.pack is not None:
        report(SourceError(f"this {PACK} has no {ENDPACK}", source.pack.position))
    return source


def _words(cursor: Cursor) -> tuple[int, ...]:
    words = [cursor.integer("a word", WORD)]
    while cursor.accept(","):
        words.append(cursor.integer("a word", WORD))
    return tuple(words)


def _is_directive(line: Line) -> bool:
    return line.directive is not None and line.directive not in _IN_CODE
