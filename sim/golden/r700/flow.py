"""Control flow: what CF instructions do to masks, stack and the address of the next word.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md for where compiled programs
show that its text cannot be meant.
"""

import numpy as np

from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.r700.limits import (
    BRANCH_SUBENTRIES,
    CALL_DEPTH,
    CALL_SUBENTRIES,
    FIRST_BRANCH_SUBENTRIES,
    LOOP_INDEX_BITS,
    LOOP_SUBENTRIES,
    SUBENTRIES,
)
from ctm.sim.golden.dpp.batch import Mask
from ctm.sim.golden.r700.instruction import Flow
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import (
    BRANCH,
    BREAK,
    CONTINUE,
    ENTERED,
    UNLIMITED,
    Batch,
    Entry,
    EntryKind,
)

_COSTS = {
    EntryKind.BRANCH: BRANCH_SUBENTRIES,
    EntryKind.LOOP: LOOP_SUBENTRIES,
    EntryKind.CALL: CALL_SUBENTRIES,
}
_LOOP_INDICES = 1 << LOOP_INDEX_BITS


class StackError(Exception):
    """The stack has no space, or not the entry that is wanted; the message says which."""


def passing(batch: Batch, program: Program, word: Flow) -> Mask:
    """The pixels [n] that pass a word's test."""
    mask = batch.active & batch.valid_mask & batch.covered if word.valid_pixels else batch.active
    return mask if holds(program, word) else np.zeros_like(mask)


def holds(program: Program, word: Flow) -> bool:
    """Whether the condition of a word holds.

    Raises
    ------
    BusError
        The boolean constant got an error response.
    """
    if word.condition is Condition.FALSE:
        return False
    if word.condition is Condition.ACTIVE:
        return True
    return program.constants.bool_constant(word.constant) == (word.condition is Condition.BOOL)


def push(batch: Batch, program: Program) -> None:
    """Keep the branch mask on the stack."""
    _push(batch, program, Entry(EntryKind.BRANCH), batch.branch_mask[None].copy())


def pop(batch: Batch, count: int) -> None:
    """Take `count` branch masks off the stack; the last one is the branch mask again."""
    for _ in range(count):
        batch.branch_mask = _top(batch, EntryKind.BRANCH, "a pop")[BRANCH]
        _remove(batch)
    if count:
        batch.update_active()


def invert(batch: Batch) -> None:
    """ELSE: the pixels of the mask on the stack that are not in the branch mask."""
    batch.branch_mask = _top(batch, EntryKind.BRANCH, "ELSE")[BRANCH] & ~batch.branch_mask
    batch.update_active()


def require_branch(batch: Batch) -> None:
    """ELSE of a condition that does not hold: nothing changes, but a mask must be on the stack."""
    _top(batch, EntryKind.BRANCH, "ELSE")


def restrict(batch: Batch, test: Mask) -> None:
    """Take the active pixels that fail `test` out of the branch mask."""
    batch.branch_mask = batch.branch_mask & (test | ~batch.active)
    batch.update_active()


def rounds(program: Program, word: Flow) -> int:
    """How often a loop goes round, or UNLIMITED.

    Raises
    ------
    BusError
        The int constant got an error response.
    """
    if word.operation is CfOperation.LOOP_START_DX10:
        return UNLIMITED
    return program.constants.int_constant(word.constant).count


def enter_loop(batch: Batch, program: Program, word: Flow, test: Mask) -> None:
    """Begin a loop for the pixels in `test`."""
    control = batch.control
    entry = Entry(EntryKind.LOOP, rounds=rounds(program, word), loop_index=control.loop_index)
    if word.operation is CfOperation.LOOP_START:
        constant = program.constants.int_constant(word.constant)
        entry = entry._replace(step=constant.step)
        batch.control = control._replace(loop_index=constant.start % _LOOP_INDICES)
    _push(batch, program, entry, np.stack([batch.branch_mask, batch.continue_mask, batch.break_mask, test]))
    batch.branch_mask, batch.continue_mask, batch.break_mask = test.copy(), np.zeros_like(test), ~test
    batch.update_active()


def leave(batch: Batch, word: Flow, test: Mask) -> Mask:
    """BREAK and CONTINUE for the pixels in `test`; the wavefronts [wavefronts] without a pixel in this round."""
    entered = batch.frames[_innermost(batch, word)][ENTERED]
    if word.operation is CfOperation.LOOP_BREAK:
        batch.break_mask = batch.break_mask | test
    else:
        batch.continue_mask = batch.continue_mask | test
    batch.update_active()
    return ~batch.any_lane(entered & ~batch.break_mask & ~batch.continue_mask)


def is_in_loop(batch: Batch) -> bool:
    """Whether any loop has begun and not ended."""
    return any(entry.kind is EntryKind.LOOP for entry in batch.control.stack)


def unwind(batch: Batch, word: Flow) -> None:
    """Take everything above the innermost loop off the stack."""
    keep = _innermost(batch, word) + 1
    batch.control = batch.control._replace(stack=batch.control.stack[:keep])
    del batch.frames[keep:]


def next_round(batch: Batch, word: Flow) -> Mask:
    """LOOP_END up to the decision: the wavefronts [wavefronts] that go round again."""
    unwind(batch, word)
    entry, masks = batch.control.stack[-1], batch.frames[-1]
    batch.continue_mask = np.zeros_like(batch.continue_mask)
    batch.branch_mask = masks[ENTERED].copy()
    batch.update_active()
    remaining = entry.rounds if entry.rounds == UNLIMITED else entry.rounds - 1
    stack = (*batch.control.stack[:-1], entry._replace(rounds=remaining))
    index = (batch.control.loop_index + entry.step) % _LOOP_INDICES
    batch.control = batch.control._replace(stack=stack, loop_index=index)
    return batch.any_lane(batch.active) & (remaining != 0)


def leave_loop(batch: Batch) -> None:
    """Restore what was before the innermost loop, which is on top of the stack."""
    masks = batch.frames[-1]
    batch.branch_mask, batch.continue_mask, batch.break_mask = masks[BRANCH], masks[CONTINUE], masks[BREAK]
    batch.control = batch.control._replace(loop_index=batch.control.stack[-1].loop_index)
    _remove(batch)
    batch.update_active()


def may_call(batch: Batch, word: Flow) -> bool:
    """Whether a call is not too deep."""
    return sum(entry.call_count for entry in batch.control.stack) + word.call_count <= CALL_DEPTH


def call(batch: Batch, program: Program, word: Flow) -> None:
    """Keep the address of the next word on the stack."""
    entry = Entry(EntryKind.CALL, target=batch.control.word + 1, call_count=word.call_count)
    _push(batch, program, entry, np.zeros((0, batch.size), bool))


def take_return(batch: Batch) -> int:
    """The address after the call, whose entry is taken off the stack."""
    _top(batch, EntryKind.CALL, "RETURN")
    target = batch.control.stack[-1].target
    _remove(batch)
    return target


def _push(batch: Batch, program: Program, entry: Entry, masks: Mask) -> None:
    stack = (*batch.control.stack, entry)
    cost = sum(_COSTS[each.kind] for each in stack)
    if any(each.kind is EntryKind.BRANCH for each in stack):
        cost += FIRST_BRANCH_SUBENTRIES
    entries = program.information.stack_size
    if cost > SUBENTRIES * entries:
        raise StackError(f"{cost} subentries are needed, and STACK_SIZE {entries} has {SUBENTRIES * entries}")
    batch.control = batch.control._replace(stack=stack)
    batch.frames.append(masks)


def _top(batch: Batch, kind: EntryKind, what: str) -> Mask:
    """The masks of the entry on top of the stack."""
    stack = batch.control.stack
    if not stack or stack[-1].kind is not kind:
        found = f"one of a {stack[-1].kind.name.lower()} is on top" if stack else "the stack is empty"
        raise StackError(f"{what} takes an entry of a {kind.name.lower()}, and {found}")
    return batch.frames[-1]


def _remove(batch: Batch) -> None:
    batch.control = batch.control._replace(stack=batch.control.stack[:-1])
    batch.frames.pop()


def _innermost(batch: Batch, word: Flow) -> int:
    """The index on the stack of the innermost loop."""
    for index in reversed(range(len(batch.control.stack))):
        if batch.control.stack[index].kind is EntryKind.LOOP:
            return index
    raise StackError(f"{word.operation.name} outside of a loop")
