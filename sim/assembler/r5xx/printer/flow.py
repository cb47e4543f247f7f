"""Writes flow-control instructions as text: structured where the fields are those of a statement, else raw."""

from ctm.rtl.isa.r5xx.opcodes import BranchOperation, FlowOperation, PredicateSelect
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.flow import ALU_RESULT, CODES, SETTINGS, TEMPLATES, WHEN_FALSE, WHEN_TRUE, Statement
from ctm.sim.assembler.r5xx.printer.decoder import legal
from ctm.sim.assembler.r5xx.printer.phrases import predicate_text
from ctm.sim.assembler.r5xx.syntax import Predicate

_CONDITIONS = {
    **{function.value: (kind, True) for kind, function in WHEN_TRUE.items()},
    **{function.value: (kind, False) for kind, function in WHEN_FALSE.items()},
}
"""JUMP_FUNC -> what it looks at, and whether it jumps when that is true."""
_BY_OPERATION = {
    FlowOperation.LOOP.value: Statement.LOOP,
    FlowOperation.ENDLOOP.value: Statement.ENDLOOP,
    FlowOperation.REP.value: Statement.REP,
    FlowOperation.ENDREP.value: Statement.ENDREP,
    FlowOperation.BREAKLOOP.value: Statement.BREAK,
    FlowOperation.BREAKREP.value: Statement.BREAK,
    FlowOperation.CONTINUE.value: Statement.CONTINUE,
}
_JUMPS = (Statement.ENDIF, Statement.ELSE, Statement.CALL, Statement.RET)
_CONDITIONAL = (Statement.IF, Statement.BREAK, Statement.CONTINUE)


def statement_of(draft: Draft) -> Statement:
    """The statement that an instruction looks like; RAW if it looks like none."""
    fields = draft.get("fc_inst")
    if fields["op"] in _BY_OPERATION:
        return _BY_OPERATION[fields["op"]]
    for statement in _JUMPS:
        template = {field: TEMPLATES[statement].get(field, 0) for field in fields}
        if template == fields:
            return statement
    return Statement.IF if fields["b_op0"] == BranchOperation.INCR.value else Statement.RAW


def structured_text(draft: Draft, statement: Statement, target: str) -> str:
    """A structured statement, without its target except that of a CALL."""
    keyword = statement.name
    if statement in (Statement.LOOP, Statement.REP):
        return f"{keyword} i{draft.get('fc_addr')['int_addr']}"
    if statement is Statement.CALL:
        return f"{keyword} {target}"
    if statement not in _CONDITIONAL:
        return keyword
    function = draft.get("fc_inst")["jump_func"]
    if function not in _CONDITIONS:
        return keyword if statement is not Statement.IF else f"{keyword} {ALU_RESULT}"
    kind, when = _CONDITIONS[function]
    wanted = when == (statement is not Statement.IF)
    condition = f"{'' if wanted else '!'}{_condition(draft, kind)}"
    return f"{keyword} {condition}" if statement is Statement.IF else f"{keyword} IF {condition}"


def _condition(draft: Draft, kind: str) -> str:
    if kind == "b":
        return f"b{draft.get('fc_addr')['bool_addr']}"
    if kind == "p":
        return predicate_text(Predicate(legal(PredicateSelect, draft.get("common")["rgb_pred_sel"])))
    return kind


def raw_text(draft: Draft, target: str) -> str:
    """The raw form; `target` may be empty."""
    common, inst = draft.get("common"), draft.get("fc_inst")
    words = ["FC"]
    predicate = Predicate(legal(PredicateSelect, common["rgb_pred_sel"]), bool(common["rgb_pred_inv"]))
    if predicate != Predicate():
        words.append(f"({predicate_text(predicate)})")
    words.append(FlowOperation(inst["op"]).name)
    if target:
        words.append(f"-> {target}")
    names = {field: {value: name.upper() for name, value in codes.items()} for field, codes in CODES.items()}
    for field, (word, width) in SETTINGS.items():
        value = draft.get(word)[field]
        if value:
            text = names.get(field, {}).get(value, hex(value) if width == 8 else str(value))
            words.append(field if width == 1 else f"{field}={text}")
    return " ".join(words)
