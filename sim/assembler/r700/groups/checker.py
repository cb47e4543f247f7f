"""Whether a group is legal: all but its slots and its read ports, which have files of their own."""

from collections.abc import Callable, Collection, Sequence

from ctm.rtl.isa.r700.alu import (
    PREVIOUS_SCALAR,
    PREVIOUS_VECTOR,
    IndexMode,
    PredicateSelect,
)
from ctm.rtl.isa.r700.limits import TRANS_SLOT
from ctm.rtl.isa.r700.operations import Result
from ctm.sim.assembler.r700.groups.view import IllegalGroupError, Operand, View, index_text, operand_text
from ctm.sim.assembler.r700.names import SLOTS

ANY_SLOTS = frozenset(range(len(SLOTS)))
"""What a group before can have produced at most."""


def check(views: Sequence[View], produced: Collection[int]) -> None:
    """Check a group; `produced` are the slots of the group before, empty at the beginning of a clause.

    Constants are not looked at: which rows there are is known of a whole clause.

    Raises
    ------
    IllegalGroupError
        At the first rule that is broken.
    """
    for index, view in enumerate(views):
        for rule in _RULES:
            problem = rule(view)
            if problem:
                raise IllegalGroupError(problem, index)
        for operand in view.operands:
            problem = _operand(operand, produced)
            if problem:
                raise IllegalGroupError(problem, index)
    _together(views)


def _result(view: View) -> str:
    operation = view.operation
    modified = view.draft.get("clamp") or view.flag("omod")
    if modified and operation is not None and operation.result is not Result.FLOAT:
        return f"the result of {view.name} is no float: it can have neither CLAMP nor *2, *4, /2"
    return ""


def _updates(view: View) -> str:
    updates = view.flag("update_execute_mask") or view.flag("update_pred")
    if updates and not (view.operation is not None and view.operation.sets_predicate):
        return f"{view.name} sets no predicate: only PRED_SET operations can have UPDATE_EXEC_MASK or UPDATE_PRED"
    return ""


def _predicate(view: View) -> str:
    if view.draft.get("pred_sel") not in {member.value for member in PredicateSelect}:
        return "this predicate select is reserved: use PRED_SEL_ZERO or PRED_SEL_ONE"
    return ""


def _index(view: View) -> str:
    mode = view.draft.get("index_mode")
    if view.is_relative and mode > IndexMode.LOOP.value:
        return f"this machine has no index {index_text(mode)}: use AR.x, AR.y, AR.z, AR.w or aL"
    return ""


_RULES: tuple[Callable[[View], str], ...] = (_result, _updates, _predicate, _index)


def _operand(operand: Operand, produced: Collection[int]) -> str:
    is_known = operand.is_register or operand.is_constant or operand.is_previous
    if not is_known:
        return f"the select {operand.select} is reserved"
    if operand.relative and not operand.is_register and not operand.is_row:
        return "only registers and constants can be relative"
    slot = {PREVIOUS_VECTOR: operand.channel, PREVIOUS_SCALAR: TRANS_SLOT}.get(operand.select)
    if slot is not None and slot not in produced:
        if not produced:
            return f"{operand_text(operand, 0)} is not known here: no group of this clause is before this one"
        return f"{operand_text(operand, 0)} is not known here: the group before has nothing in slot {SLOTS[slot]}"
    return ""


def _together(views: Sequence[View]) -> None:
    """What the instructions of a group cannot be together."""
    setters = [at for at, view in enumerate(views) if view.operation is not None and view.operation.sets_predicate]
    kills = [at for at, view in enumerate(views) if view.operation is not None and view.operation.kills]
    if len(setters) > 1:
        raise IllegalGroupError("a group has one PRED_SET at most: move this one to another group", setters[1])
    if setters and kills:
        message = "PRED_SET and KILL cannot be in one group: move one to another"
        raise IllegalGroupError(message, max(setters[0], kills[0]))
    addresses = [at for at, view in enumerate(views) if view.operation is not None and view.operation.sets_address]
    relative = [at for at, view in enumerate(views) if view.is_relative]
    if addresses and relative:
        message = f"{views[addresses[0]].name} cannot be in a group with a relative operand: move one to another"
        raise IllegalGroupError(message, max(addresses[0], relative[0]))
