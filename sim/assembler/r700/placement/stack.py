"""How deep a program's stack gets: STACK_SIZE.

All paths through the control flow are walked, each with what is on the stack; both paths of every jump are taken.
"""

from collections.abc import Iterator, Mapping, Sequence

from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.limits import (
    BRANCH_SUBENTRIES,
    CALL_SUBENTRIES,
    FIRST_BRANCH_SUBENTRIES,
    LOOP_SUBENTRIES,
    STACK_ENTRIES,
    SUBENTRIES,
)
from ctm.sim.assembler.r700.form import CLAUSE, CONTROL, Draft

_MOST_STATES = 50_000
_BRANCH, _LOOP = "branch", "loop"
_FETCH_SUBROUTINE = -1
"""An address at which there is no word: what CALL_FS calls is another program."""
Entry = str | int
"""A branch, a loop, or the address to which a call returns."""
_Stack = tuple[Entry, ...]
_State = tuple[int, _Stack]

_LOOP_STARTS = (CfOperation.LOOP_START, CfOperation.LOOP_START_DX10, CfOperation.LOOP_START_NO_AL)
_JUMPS = (CfOperation.JUMP, CfOperation.POP_JUMP)
_PUSHES = (CfOperation.PUSH, CfOperation.PUSH_ELSE, CfOperation.POP_PUSH, CfOperation.POP_PUSH_ELSE)
_POPS_FIRST = (CfOperation.POP_JUMP, CfOperation.POP_PUSH, CfOperation.POP_PUSH_ELSE)
_POPS_AFTER = {AluClause.ALU_POP_AFTER.value: 1, AluClause.ALU_POP2_AFTER.value: 2}


def stack_size(words: Mapping[int, Draft], start: int) -> int | None:
    """STACK_SIZE for the CF instructions at their addresses; None if it is unknown, or more than there can be."""
    seen: set[_State] = set()
    open_states: list[_State] = [(start, ())]
    most = 0
    while open_states:
        state = open_states.pop()
        if state in seen or state[0] not in words:
            continue
        seen.add(state)
        address, stack = state
        most = max(most, cost(stack))
        if most > STACK_ENTRIES * SUBENTRIES or len(seen) > _MOST_STATES:
            return None
        following = list(_next(words[address], address, stack))
        most = max([most, *(cost(stack) for _, stack in following)])
        if not _ends(words[address]):
            open_states += following
    return -(-most // SUBENTRIES)


def cost(stack: Sequence[Entry]) -> int:
    """The subentries that a stack takes."""
    branches = stack.count(_BRANCH)
    loops = stack.count(_LOOP)
    first = FIRST_BRANCH_SUBENTRIES if branches else 0
    calls = len(stack) - branches - loops
    return branches * BRANCH_SUBENTRIES + first + loops * LOOP_SUBENTRIES + calls * CALL_SUBENTRIES


def _ends(draft: Draft) -> bool:
    return draft.form is not CLAUSE and bool(draft.get("end_of_program"))


def _next(draft: Draft, address: int, stack: _Stack) -> Iterator[_State]:
    """The states after a word."""
    if draft.form is CLAUSE:
        code = draft.get("cf_inst")
        after = (*stack, _BRANCH) if code == AluClause.ALU_PUSH_BEFORE.value else stack
        yield address + 1, _popped(after, _POPS_AFTER.get(code, 0))
    elif draft.form is not CONTROL or draft.get("cf_inst") not in {member.value for member in CfOperation}:
        yield address + 1, stack
    else:
        yield from _control(draft, CfOperation(draft.get("cf_inst")), address, stack)


def _control(draft: Draft, operation: CfOperation, address: int, stack: _Stack) -> Iterator[_State]:
    target, pops = draft.get("addr"), draft.get("pop_count")
    if operation in _POPS_FIRST:
        stack, pops = _popped(stack, pops), 0
    if operation in _LOOP_STARTS:
        yield target, _popped(stack, pops)
        yield address + 1, (*stack, _LOOP)
    elif operation in _JUMPS or operation is CfOperation.ELSE:
        yield target, _popped(stack, pops)
        if draft.get("cond") != Condition.FALSE.value:
            yield address + 1, stack
    elif operation in _PUSHES:
        pushed = (*stack, _BRANCH)
        is_else = operation in (CfOperation.PUSH_ELSE, CfOperation.POP_PUSH_ELSE)
        yield target, _popped(pushed if is_else else stack, pops)
        yield address + 1, pushed
    elif operation is CfOperation.POP:
        yield address + 1, _popped(stack, pops)
    else:
        yield from _loops_and_calls(operation, target, address, stack)


def _loops_and_calls(operation: CfOperation, target: int, address: int, stack: _Stack) -> Iterator[_State]:
    if operation in (CfOperation.LOOP_BREAK, CfOperation.LOOP_CONTINUE):
        yield target, _unwound(stack)
        yield address + 1, stack
    elif operation is CfOperation.LOOP_END:
        loop = _unwound(stack)
        yield target, loop
        yield address + 1, loop[:-1]
    elif operation is CfOperation.CALL:
        yield target, (*stack, address + 1)
        yield address + 1, stack
    elif operation is CfOperation.CALL_FS:
        yield _FETCH_SUBROUTINE, (*stack, address + 1)
        yield address + 1, stack
    elif operation is CfOperation.RETURN and stack and isinstance(stack[-1], int):
        yield stack[-1], stack[:-1]
    elif operation is not CfOperation.RETURN:
        yield address + 1, stack


def _popped(stack: _Stack, count: int) -> _Stack:
    """Without its last entries; a program that pops more than there are stops with a fault."""
    return stack[: len(stack) - count] if count <= len(stack) else ()


def _unwound(stack: _Stack) -> _Stack:
    """Down to the innermost loop."""
    while stack and stack[-1] != _LOOP:
        stack = stack[:-1]
    return stack
