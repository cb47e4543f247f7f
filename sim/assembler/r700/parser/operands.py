"""Parses the operands of ALU instructions."""

from dataclasses import replace

from ctm.rtl.isa.r700.alu import (
    CONSTANT_FILE,
    KCACHE_0,
    LITERAL,
    PREVIOUS_SCALAR,
    PREVIOUS_VECTOR,
)
from ctm.rtl.isa.r700.limits import KCACHE_SET_ROWS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.form import OP2
from ctm.sim.assembler.r700.parser import registers
from ctm.sim.assembler.r700.parser.numbers import INLINE_BY_NAME, INLINE_BY_WORD, SIGN, word_of
from ctm.sim.assembler.r700.syntax import Source
from ctm.sim.assembler.tokens import Kind

_VECTOR, _SCALAR, _LITERAL, _SELECT = "pv", "ps", "lit", "sel"
_SELECTS = OP2.limit("src0_sel")

Operand = tuple[Source, int | None]
"""An operand, and the index mode if it is relative."""


def parse_operand(cursor: Cursor, component: int | None = None) -> Operand:
    """`-|x|`, `-x`, `|x|` or x: a register with a component, a number, PV, PS or the name of a constant.

    With `component` a register may have a letter for each component, or none, and this one counts.
    """
    position = cursor.position
    negative = cursor.accept("-") is not None
    absolute = cursor.accept("|") is not None
    cursor.expand_alias()
    if cursor.token.kind is Kind.NUMBER:
        source, index = _number(cursor, negative=negative and not absolute), None
        negative = source.negate if not absolute else negative
    else:
        source, index = _register(cursor, component)
    if absolute:
        cursor.expect("|")
    return replace(source, position=position, negate=negative, absolute=absolute), index


def _number(cursor: Cursor, *, negative: bool) -> Source:
    """A number: an inline constant where one has its bits, with a sign if that is what is missing, else a literal."""
    position = cursor.position
    word, is_float = word_of(cursor.token, negative=negative)
    cursor.take()
    if word in INLINE_BY_WORD:
        found = Source(position=position, select=INLINE_BY_WORD[word])
    elif is_float and negative and word ^ SIGN in INLINE_BY_WORD:
        found = Source(position=position, select=INLINE_BY_WORD[word ^ SIGN], negate=True)
    else:
        return Source(position=position, select=LITERAL, literal=word)
    return replace(found, channel=registers.accept_channel(cursor) or 0)


def _register(cursor: Cursor, component: int | None) -> Operand:
    position, text = cursor.position, cursor.token.text.lower()
    if text in INLINE_BY_NAME:
        cursor.take()
        channel = registers.accept_channel(cursor) or 0
        return Source(position=position, select=INLINE_BY_NAME[text], channel=channel), None
    if text == _VECTOR:
        cursor.take()
        channel = registers.parse_channel(cursor, "PV", component)
        return Source(position=position, select=PREVIOUS_VECTOR, channel=channel), None
    if text == _SCALAR:
        cursor.take()
        return Source(position=position, select=PREVIOUS_SCALAR, channel=registers.accept_channel(cursor) or 0), None
    if text == _LITERAL:
        return _literal(cursor), None
    if cursor.token.kind is not Kind.NAME:
        cursor.fail(f"expected an operand, not {cursor.described()}")
    return _indexed(cursor, component)


def _literal(cursor: Cursor) -> Source:
    """`LIT(number)`, a literal whatever its bits, or `LIT.x`, a word of the group's `.literals`."""
    position = cursor.take().position
    if cursor.accept("(") is None:
        return Source(position=position, select=LITERAL, channel=registers.parse_channel(cursor, "the literals"))
    negative = cursor.accept("-") is not None
    cursor.expand_alias()
    if cursor.token.kind is not Kind.NUMBER:
        cursor.fail(f"expected the literal's number, not {cursor.described()}")
    word, _ = word_of(cursor.token, negative=negative)
    cursor.take()
    cursor.expect(")")
    return Source(position=position, select=LITERAL, literal=word)


def _indexed(cursor: Cursor, component: int | None) -> Operand:
    """A register, a constant by its row, by its kcache set, of the constant file, or by its select."""
    position, text = cursor.position, cursor.token.text.lower()
    row = None
    if text in registers.KCACHES:
        cursor.take()
        number, index = registers.parse_bracket(cursor, KCACHE_SET_ROWS, "a constant of the set")
        select = KCACHE_0 + KCACHE_SET_ROWS * registers.KCACHES.index(text) + number
    elif text == registers.CONSTANT_FILE:
        cursor.take()
        number, index = registers.parse_bracket(cursor, _SELECTS - CONSTANT_FILE, "a constant of the file")
        select = CONSTANT_FILE + number
    elif text == _SELECT:
        cursor.take()
        select, index = registers.parse_bracket(cursor, _SELECTS, "a select")
    elif text.startswith("c"):
        row, index = registers.parse_row(cursor)
        select = CONSTANT_FILE + row
    else:
        select, index = registers.parse_gpr(cursor)
    channel = registers.parse_channel(cursor, "the operand", component)
    return Source(position=position, select=select, channel=channel, relative=index is not None, row=row), index
