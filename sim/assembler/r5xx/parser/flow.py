"""Flow-control statements: the raw form and the structured ones; CTM Guide pp. 34-40."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ctm.rtl.isa.limits import BOOL_CONSTANTS, INT_CONSTANTS
from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    BranchOperation,
    FlowOperation,
    InstructionType,
    JumpFunction,
    PredicateSelect,
)
from ctm.rtl.isa.word import fields
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r5xx.draft import Draft, layouts
from ctm.sim.assembler.r5xx.parser.halves import parse_condition_bit, parse_predicate
from ctm.sim.assembler.r5xx.parser.options import parse_flags
from ctm.sim.assembler.r5xx.parser.registers import parse_numbered
from ctm.sim.assembler.r5xx.syntax import Predicate
from ctm.sim.assembler.tokens import Kind, Token


class Statement(Enum):
    """Flow-control statements by their keyword."""

    RAW = "fc"
    IF = "if"
    ELSE = "else"
    ENDIF = "endif"
    LOOP = "loop"
    ENDLOOP = "endloop"
    REP = "rep"
    ENDREP = "endrep"
    BREAK = "break"
    CONTINUE = "continue"
    CALL = "call"
    RET = "ret"


@dataclass
class Flow:
    """A flow-control statement; `target` is what was written, a label or a number."""

    statement: Statement
    draft: Draft
    position: Position
    target: Token | None = None


_FOREVER = {"jump_func": JumpFunction.ALWAYS.value}
_DECREMENT_1 = {"b_pop_cnt": 1}
TEMPLATES: Mapping[Statement, Mapping[str, int]] = {
    Statement.RAW: {},
    Statement.IF: {"b_op0": BranchOperation.INCR.value, "ignore_uncovered": 1},
    Statement.ELSE: {"b_else": 1, "b_op1": BranchOperation.DECR.value, **_DECREMENT_1},
    Statement.ENDIF: {"jump_any": 1, "b_op0": BranchOperation.DECR.value, **_DECREMENT_1},
    Statement.LOOP: {"op": FlowOperation.LOOP.value, "ignore_uncovered": 1},
    Statement.ENDLOOP: {"op": FlowOperation.ENDLOOP.value, "jump_any": 1, "ignore_uncovered": 1, **_FOREVER},
    Statement.REP: {"op": FlowOperation.REP.value, "ignore_uncovered": 1},
    Statement.ENDREP: {"op": FlowOperation.ENDREP.value, "jump_any": 1, "ignore_uncovered": 1, **_FOREVER},
    Statement.BREAK: {"op": FlowOperation.BREAKLOOP.value, "ignore_uncovered": 1},
    Statement.CONTINUE: {"op": FlowOperation.CONTINUE.value, "ignore_uncovered": 1},
    Statement.CALL: {"a_op": AddressOperation.PUSH.value, **_FOREVER},
    Statement.RET: {"a_op": AddressOperation.POP.value, **_FOREVER},
}
"""Fields of FC_INST that a statement has whatever stands around it; CTM Guide pp. 38-40, and as compilers use them."""

ALU_RESULT = "alu_result"
WHEN_TRUE = {
    ALU_RESULT: JumpFunction.ALU_RESULT,
    "p": JumpFunction.PREDICATE,
    "b": JumpFunction.BOOLEAN,
}
WHEN_FALSE = {
    ALU_RESULT: JumpFunction.NOT_ALU_RESULT,
    "p": JumpFunction.NOT_PREDICATE,
    "b": JumpFunction.NOT_BOOLEAN,
}

OPERATIONS = {operation.name.lower(): operation for operation in FlowOperation}
CODES: Mapping[str, Mapping[str, int]] = {
    "jump_func": {function.name.lower(): function.value for function in JumpFunction},
    "a_op": {operation.name.lower(): operation.value for operation in AddressOperation},
    "b_op0": {operation.name.lower(): operation.value for operation in BranchOperation},
    "b_op1": {operation.name.lower(): operation.value for operation in BranchOperation},
}
"""Fields whose values have names in the raw form."""
SETTINGS: Mapping[str, tuple[str, int]] = {
    field: (word, width)
    for word in ("fc_inst", "fc_addr")
    for field, _, width in fields(layouts(InstructionType.FC)[word])
    if not field.startswith("reserved") and field not in ("op", "jump_addr")
}
"""Fields of the raw form: to their word and width. The operation and the target are not among them."""


def parse_flow(cursor: Cursor, statement: Statement, position: Position) -> Flow:
    """A flow-control statement after its keyword, which stands at `position`."""
    flow = Flow(statement, Draft(InstructionType.FC), position)
    flow.draft.set("fc_inst", **TEMPLATES[statement])
    if statement in _PARSERS:
        _PARSERS[statement](cursor, flow)
    if cursor.accept("->"):
        flow.target = _target(cursor)
    while parse_flags(cursor, flow.draft) or statement is Statement.RAW and _setting(cursor, flow.draft):
        pass
    return flow


def _target(cursor: Cursor) -> Token:
    cursor.expand_alias()
    if cursor.token.kind not in (Kind.NAME, Kind.NUMBER):
        cursor.fail(f"expected a label or a number, not {cursor.described()}")
    return cursor.take()


def _raw(cursor: Cursor, flow: Flow) -> None:
    """`FC [(predicate)] OPERATION [-> target] [field=value | field] ...`."""
    if cursor.next_is("("):
        _set_predicate(flow.draft, parse_predicate(cursor))
    flow.draft.set("fc_inst", op=cursor.choose(OPERATIONS, "a flow-control operation").value)


def _setting(cursor: Cursor, draft: Draft) -> bool:
    """One field of the raw form; a field without a value is 1."""
    name = cursor.token.text.lower()
    if name not in SETTINGS:
        return False
    word, width = SETTINGS[name]
    cursor.take()
    value = 1
    if cursor.accept("="):
        if name in CODES and cursor.token.kind is Kind.NAME:
            value = cursor.choose(CODES[name], f"a value of {name}")
        else:
            value = cursor.integer(f"the field {name}", 1 << width)
    draft.set(word, **{name: value})
    return True


def _condition(cursor: Cursor, draft: Draft, when: bool) -> None:
    """`[!]alu_result`, `[!]p.r` or `[!]b3`: jump where it is as `when` says."""
    wanted = when != (cursor.accept("!") is not None)
    functions = WHEN_TRUE if wanted else WHEN_FALSE
    if cursor.accept(ALU_RESULT):
        kind = ALU_RESULT
    elif cursor.next_is("p"):
        kind = "p"
        position = cursor.position
        predicate = parse_condition_bit(cursor)
        if predicate.select is PredicateSelect.RGBA:
            cursor.fail_at("a condition is one predicate bit: p.r, p.g, p.b or p.a", position)
        _set_predicate(draft, predicate)
    else:
        if cursor.token.text[:1].lower() != "b":
            cursor.fail(f"expected a condition: alu_result, p.r or b0, not {cursor.described()}")
        kind = "b"
        draft.set("fc_addr", bool_addr=parse_numbered(cursor, "b", BOOL_CONSTANTS, "a boolean constant"))
    draft.set("fc_inst", jump_func=functions[kind].value)


def _set_predicate(draft: Draft, predicate: Predicate) -> None:
    draft.set("common", rgb_pred_sel=predicate.select.value, rgb_pred_inv=predicate.inverted)


def _if(cursor: Cursor, flow: Flow) -> None:
    _condition(cursor, flow.draft, when=False)


def _begin(cursor: Cursor, flow: Flow) -> None:
    flow.draft.set("fc_addr", int_addr=parse_numbered(cursor, "i", INT_CONSTANTS, "an int constant"))


def _leave(cursor: Cursor, flow: Flow) -> None:
    if cursor.accept("if"):
        _condition(cursor, flow.draft, when=True)
    else:
        flow.draft.set("fc_inst", **_FOREVER)


def _call(cursor: Cursor, flow: Flow) -> None:
    flow.target = _target(cursor)


_PARSERS = {
    Statement.RAW: _raw,
    Statement.IF: _if,
    Statement.LOOP: _begin,
    Statement.REP: _begin,
    Statement.BREAK: _leave,
    Statement.CONTINUE: _leave,
    Statement.CALL: _call,
}
