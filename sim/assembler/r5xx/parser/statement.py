"""One statement that makes an instruction: from its keyword to its overrides."""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.r5xx.instruction import WORDS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import unpack
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r5xx.draft import WORD_NAMES, Draft
from ctm.sim.assembler.r5xx.parser.arithmetic import parse_arithmetic
from ctm.sim.assembler.r5xx.parser.flow import Flow, Statement, parse_flow
from ctm.sim.assembler.r5xx.parser.options import Override, parse_overrides
from ctm.sim.assembler.r5xx.parser.texture import parse_texture

WORD_DIRECTIVE = ".word"
_ARITHMETIC: Mapping[str, InstructionType] = {
    "alu": InstructionType.ALU,
    "out": InstructionType.OUTPUT,
    "output": InstructionType.OUTPUT,
}
_FLOW = {statement.value: statement for statement in Statement}
KEYWORDS = (*_ARITHMETIC, "tex", *_FLOW)


@dataclass
class Item:
    """An instruction of the program: its words so far and the fields that were written outright."""

    draft: Draft
    position: Position
    overrides: tuple[Override, ...] = ()
    flow: Flow | None = None

    def override(self) -> None:
        """Write the overridden fields."""
        for override in self.overrides:
            self.draft.set(override.word, **{override.field: override.value})


def parse_statement(cursor: Cursor, *, uncached_writes: bool) -> Item:
    """Parse a whole instruction, up to the end of the statement.

    Raises
    ------
    SourceError
        At the first token that does not fit.
    """
    position = cursor.position
    keyword = cursor.token.text.lower()
    if keyword == WORD_DIRECTIVE:
        item = _words(cursor, position)
    else:
        item = _instruction(cursor, position, keyword, uncached_writes)
        item.overrides = parse_overrides(cursor, item.draft.kind)
    cursor.expect_end()
    return item


def _instruction(cursor: Cursor, position: Position, keyword: str, uncached_writes: bool) -> Item:
    if keyword not in KEYWORDS:
        cursor.fail_unknown("an instruction (ALU, OUT, TEX, FC, IF, ...)", KEYWORDS)
    cursor.take()
    if keyword in _ARITHMETIC:
        return Item(parse_arithmetic(cursor, _ARITHMETIC[keyword], uncached_writes=uncached_writes), position)
    if keyword in _FLOW:
        flow = parse_flow(cursor, _FLOW[keyword], position)
        return Item(flow.draft, position, flow=flow)
    return Item(parse_texture(cursor), position)


def _words(cursor: Cursor, position: Position) -> Item:
    """`.word` and six numbers: an instruction in which nothing is set automatically."""
    cursor.take()
    words = [cursor.integer("word 0", 1 << 32)]
    while len(words) < INSTRUCTION_WORDS:
        cursor.expect(",")
        words.append(cursor.integer(f"word {len(words)}", 1 << 32))
    kind = InstructionType(words[0] & 3)
    overrides = [
        Override(name, field, value)
        for name, layout, word in zip(WORD_NAMES[kind], WORDS[kind], words, strict=True)
        for field, value in unpack(layout, word).items()
    ]
    return Item(Draft(kind, words), position, tuple(overrides))
