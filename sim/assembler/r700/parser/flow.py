"""Parses structured control flow."""

from ctm.rtl.isa.limits import BOOL_CONSTANTS, INT_CONSTANTS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.parser.arithmetic import parse_condition
from ctm.sim.assembler.r700.parser.registers import parse_numbered
from ctm.sim.assembler.r700.syntax import Group, Keyword, Statement

STATEMENTS = {keyword.value: keyword for keyword in Keyword}
_NAMED = (Keyword.CALL, Keyword.SUB)
_CONDITIONAL = (Keyword.BREAK, Keyword.CONTINUE)
_RAW = ("else", "call")
"""Statements that are also the name of a CF instruction, which then has an address."""


def is_statement(cursor: Cursor) -> bool:
    """Whether a structured statement is next."""
    text = cursor.token.text.lower()
    return text in STATEMENTS and not (text in _RAW and cursor.following.text.lower() == "addr")


def parse_statement(cursor: Cursor) -> Statement:
    """One structured statement."""
    position = cursor.position
    statement = Statement(position, STATEMENTS[cursor.take().text.lower()])
    if statement.keyword is Keyword.IF:
        _condition(cursor, statement)
    elif statement.keyword is Keyword.LOOP:
        if not cursor.at_end:
            _counter(cursor, statement)
    elif statement.keyword is Keyword.REP:
        _counter(cursor, statement)
    elif statement.keyword in _CONDITIONAL and cursor.accept("if"):
        _condition(cursor, statement)
    elif statement.keyword in _NAMED:
        statement.name = cursor.expect_name("the subroutine's name")
    cursor.expect_end()
    return statement


def _counter(cursor: Cursor, statement: Statement) -> None:
    statement.constant = parse_numbered(cursor, "i", INT_CONSTANTS, "an int constant")


def _condition(cursor: Cursor, statement: Statement) -> None:
    """A PRED_SET operation, a boolean constant, or nothing: the clause in front has it."""
    cursor.expand_alias()
    statement.inverted = cursor.next_is("!") and cursor.accept("!") is not None
    text = cursor.token.text.lower()
    if statement.inverted or (text.startswith("b") and text[1:].isdigit()):
        statement.constant = parse_numbered(cursor, "b", BOOL_CONSTANTS, "a boolean constant")
    elif not cursor.at_end:
        instruction = parse_condition(cursor)
        statement.condition = Group(instruction.position, [instruction])
