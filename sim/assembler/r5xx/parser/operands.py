"""Parses the operands of ALU and OUTPUT instructions; CTM Guide pp. 25-27."""

import re

from ctm.rtl.isa.r5xx.opcodes import Presubtract, Select
from ctm.sim.assembler.cursor import Cursor, number
from ctm.sim.assembler.r5xx.parser.registers import parse_inline, parse_source
from ctm.sim.assembler.r5xx.syntax import SWIZZLE_LETTERS, Operand, Presubtraction, Register, Slot, Source
from ctm.sim.assembler.tokens import Kind

_SLOTS = {"src0": Slot(0), "src1": Slot(1), "src2": Slot(2), "srcp": Slot(Select.SRCP.value)}
_CONSTANT_CHANNELS: dict[float, str] = {0: "0", 0.5: "h", 1: "1"}
_CONSTANTS_ONLY = re.compile("[0h1]+")
_LENGTHS = (1, 3, 4)


def parse_operand(cursor: Cursor) -> Operand:
    """An operand: `-` and `|x|` around a source with its swizzle."""
    position = cursor.position
    cursor.expand_alias()
    negative = cursor.accept("-") is not None
    absolute = cursor.accept("|") is not None
    source, swizzle = _source_and_swizzle(cursor)
    if absolute:
        cursor.expect("|")
    return Operand(source=source, swizzle=swizzle, negative=negative, absolute=absolute, position=position)


def _source_and_swizzle(cursor: Cursor) -> tuple[Source, str | None]:
    cursor.expand_alias()
    token = cursor.token
    if token.kind is Kind.NUMBER:
        if number(token) in _CONSTANT_CHANNELS and cursor.following.kind is not Kind.DOT:
            cursor.take()
            return None, _CONSTANT_CHANNELS[number(token)]
        return parse_inline(cursor), _swizzle(cursor)
    if token.kind is Kind.DOT:
        return None, _constant_swizzle(cursor)
    if token.text == "(":
        return _presubtraction(cursor), _swizzle(cursor)
    if token.text.lower() in _SLOTS:
        return _SLOTS[cursor.take().text.lower()], _swizzle(cursor)
    if token.kind is not Kind.NAME:
        cursor.fail(f"expected an operand, not {cursor.described()}")
    return parse_source(cursor), _swizzle(cursor)


def _constant_swizzle(cursor: Cursor) -> str:
    if not _CONSTANTS_ONLY.fullmatch(cursor.token.text[1:].lower()):
        cursor.fail("a swizzle without a source has the letters 0, h and 1 only")
    return str(_swizzle(cursor))


def _swizzle(cursor: Cursor) -> str | None:
    """An optional swizzle of one, three or four letters."""
    if cursor.token.kind is not Kind.DOT:
        return None
    letters = cursor.token.text[1:].lower()
    if any(letter not in SWIZZLE_LETTERS for letter in letters):
        cursor.fail(f"a swizzle has the letters {' '.join(SWIZZLE_LETTERS)}; h is one half")
    if len(letters) not in _LENGTHS:
        cursor.fail("a swizzle has one letter for all channels, three for r, g, b or four")
    cursor.take()
    return letters


def _presubtraction(cursor: Cursor) -> Presubtraction:
    """`(1 - 2*r0)`, `(1 - r0)`, `(r1 - r0)` or `(r1 + r0)`."""
    cursor.expect("(")
    one = _is_one(cursor)
    first = parse_source(cursor)
    sign = cursor.accept("-", "+")
    if sign is None:
        cursor.fail(f"expected + or -, not {cursor.described()}")
    if sign.text == "-" and one:
        operation, sources = _from_one(cursor)
    else:
        operation = Presubtract.SUB if sign.text == "-" else Presubtract.ADD
        sources = (parse_source(cursor), first)
    if not cursor.next_is(")"):
        cursor.fail("a presubtract is (1 - 2*a), (1 - a), (b - a) or (b + a)")
    cursor.take()
    return Presubtraction(operation, sources)


def _is_one(cursor: Cursor) -> bool:
    cursor.expand_alias()
    return cursor.token.kind is Kind.NUMBER and number(cursor.token) == 1


def _from_one(cursor: Cursor) -> tuple[Presubtract, tuple[Register, ...]]:
    if cursor.token.kind is Kind.NUMBER and cursor.followed_by("*"):
        if number(cursor.token) != 2:
            cursor.fail("a presubtract is (1 - 2*a), (1 - a), (b - a) or (b + a)")
        cursor.take()
        cursor.expect("*")
        return Presubtract.BIAS, (parse_source(cursor),)
    return Presubtract.INV, (parse_source(cursor),)
