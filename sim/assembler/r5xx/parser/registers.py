"""Parses registers and inline constants."""

import re
from bisect import bisect

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE, inline_constant
from ctm.sim.assembler.cursor import Cursor, number
from ctm.sim.assembler.r5xx.syntax import Bank, Register
from ctm.sim.assembler.tokens import Kind

_NUMBERED = re.compile(r"([a-z])([0-9]+)")
_INLINE_VALUES = [inline_constant(code) for code in range(ADDRESS_INLINE)]
"""Ascending, by code."""

_BANKS = {"r": (Bank.TEMPORARY, TEMPORARIES), "c": (Bank.CONSTANT, FLOAT_CONSTANTS)}


def parse_numbered(cursor: Cursor, letter: str, limit: int, what: str) -> int:
    """A register like `i3`: its letter and a number below `limit`."""
    cursor.expand_alias()
    match = _NUMBERED.fullmatch(cursor.token.text.lower())
    if cursor.token.kind is not Kind.NAME or match is None or match[1] != letter:
        cursor.fail(f"expected {what}, {letter}0 to {letter}{limit - 1}, not {cursor.described()}")
    index = int(match[2])
    if index >= limit:
        cursor.fail(f"there is no {letter}{index}; {what} is {letter}0 to {letter}{limit - 1}")
    cursor.take()
    return index


def parse_relative(cursor: Cursor) -> bool:
    """An optional `[aL]`."""
    if cursor.accept("[") is None:
        return False
    if cursor.accept("al") is None:
        cursor.fail(f"expected aL, not {cursor.described()}; write r3[aL] for temporary 3 + aL")
    cursor.expect("]")
    return True


def parse_temporary(cursor: Cursor) -> Register:
    """A temporary, `r3` or `r3[aL]`."""
    index = parse_numbered(cursor, "r", TEMPORARIES, "a temporary")
    return Register(Bank.TEMPORARY, index, parse_relative(cursor))


def parse_source(cursor: Cursor) -> Register:
    """A temporary, a float constant or a number that is an inline constant."""
    cursor.expand_alias()
    token = cursor.token
    if token.kind is Kind.NUMBER:
        return parse_inline(cursor)
    bank, limit = _BANKS.get(token.text[:1].lower(), (None, 0))
    if token.kind is not Kind.NAME or bank is None:
        cursor.fail(f"expected a temporary, a constant or a number, not {cursor.described()}")
    what = "a temporary" if bank is Bank.TEMPORARY else "a constant"
    index = parse_numbered(cursor, token.text[0].lower(), limit, what)
    return Register(bank, index, parse_relative(cursor))


def parse_inline(cursor: Cursor) -> Register:
    """A number that an inline constant gives exactly."""
    value = number(cursor.token)
    above = min(bisect(_INLINE_VALUES, value), len(_INLINE_VALUES) - 1)
    code = above if _INLINE_VALUES[above] == value else above - 1
    if _INLINE_VALUES[code] != value:
        nearest = min(_INLINE_VALUES[above], _INLINE_VALUES[code], key=lambda known: abs(known - value))
        cursor.fail(f"{cursor.token.text} is no inline constant: use the nearest, {nearest}, or a float constant")
    cursor.take()
    return Register(Bank.INLINE, code)
