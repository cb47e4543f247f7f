"""Flow control: jump wishes, decisions, branch counters, loop and address stacks.

Source: CTM Guide pp. 34-40; docs/design/choices.md has the order of the steps, which the functions below follow. A
wavefront decides as a whole; within it each lane keeps its own state.
"""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.r5xx.limits import (
    ADDRESS_STACK,
    BRANCH_COUNTER_FULL,
    BRANCH_COUNTER_PARTIAL,
    LOOP_INDEX_BITS,
    LOOP_STACK,
)
from ctm.rtl.isa.r5xx.opcodes import AddressOperation, BranchOperation, FlowOperation
from ctm.sim.golden.dpp.batch import Mask
from ctm.sim.golden.r5xx.instruction import Flow
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import BROKEN, CONTINUED, ENTERED, Batch, Control, Frame

_BEGINS = {FlowOperation.LOOP, FlowOperation.REP}
_ENDS = {FlowOperation.ENDLOOP: FlowOperation.LOOP, FlowOperation.ENDREP: FlowOperation.REP}
_BREAKS = {FlowOperation.BREAKLOOP: FlowOperation.LOOP, FlowOperation.BREAKREP: FlowOperation.REP}
_LEAVES_LANES = {*_BREAKS, FlowOperation.CONTINUE}


class StackError(Exception):
    """A stack that all wavefronts of the batch share overflowed or underflowed."""


class FrameError(Exception):
    """The end or break of one kind of loop met a frame of the other."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a flow-control instruction did to the wavefronts of a batch, masks [wavefronts].

    Wavefronts in `overflowed` fault with STACK; the others go on at `jump` or `stay`, as `jumps` says.
    """

    jumps: Mask
    overflowed: Mask
    jump: Control | None
    """None where no wavefront jumps."""
    stay: Control | None

    @property
    def shared(self) -> Control | None:
        """The control state in which all wavefronts go on; None where they diverge or some fault."""
        if self.overflowed.any():
            return None
        if self.jump is None or self.jump == self.stay:
            return self.stay
        return self.jump if self.stay is None else None


def execute(batch: Batch, program: Program, instruction: Flow) -> Outcome:
    """Execute a flow-control instruction: changes the state of lanes, and returns control state.

    The loop-frame masks of the batch are those before a push or pop; `apply_frames` makes the step for the wavefronts
    that jump or stay once they are separate batches.

    Raises
    ------
    StackError, FrameError
        For all wavefronts of the batch.
    """
    frame = _frame(batch, instruction)
    if instruction.operation is FlowOperation.ENDLOOP:
        # The step comes before the decision, so wavefronts that leave need its constant too.
        program.constants.int_constant(instruction.integer)
    if instruction.operation in _ENDS:
        _resume_continued(batch)
    if instruction.is_else:
        _swap_branches(batch)
    wish = batch.active & _wish(batch, program, instruction)
    if instruction.operation in _LEAVES_LANES:
        jumps = _leave_loop(batch, instruction, wish)
    else:
        jumps = _decide(batch, program, instruction, wish, frame)
    overflowed = _branch(batch, program, instruction, wish, jumps)
    return _outcome(batch, program, instruction, frame, jumps, overflowed)


def _frame(batch: Batch, instruction: Flow) -> Frame | None:
    """The loop frame that the instruction works on."""
    operation = instruction.operation
    if operation is not FlowOperation.CONTINUE and operation not in _ENDS and operation not in _BREAKS:
        return None
    if not batch.control.frames:
        raise StackError
    frame = batch.control.frames[-1]
    if frame.kind is not (_ENDS | _BREAKS).get(operation, frame.kind):
        raise FrameError
    return frame


def _resume_continued(batch: Batch) -> None:
    continued = batch.frames[-1][CONTINUED]
    if continued.any():
        batch.loop_inactive &= ~continued
        batch.set_active(batch.active | continued)
        continued[:] = False


def _swap_branches(batch: Batch) -> None:
    waiting = ~batch.active & ~batch.loop_inactive & (batch.counter == 0)
    batch.counter[batch.active] = 0
    batch.set_active(waiting)


def _wish(batch: Batch, program: Program, instruction: Flow) -> Mask:
    """JUMP_FUNC for every lane; the boolean is the same for all, so a table of four remains."""
    function = instruction.jump_function
    uses_boolean = function & 0x55 != function >> 1 & 0x55
    boolean = uses_boolean and program.constants.bool_constant(instruction.boolean)
    table = [bool(function >> (entry << 1 | boolean) & 1) for entry in range(4)]
    if len(set(table)) == 1:
        return np.full(batch.size, table[0])
    predicate = instruction.common.predicates[0]
    bit = predicate.bit(0)
    chosen = np.full(batch.size, True) if bit is None else batch.predicates[bit]
    chosen = chosen ^ predicate.inverted
    result = np.zeros(batch.size, bool)
    for entry, jumps in enumerate(table):
        if jumps:
            result |= (batch.alu_result == bool(entry & 2)) & (chosen == bool(entry & 1))
    return result


def _voters(batch: Batch, instruction: Flow) -> Mask:
    """Lanes whose state counts, active or not."""
    return batch.valid_mask & batch.covered if instruction.ignore_uncovered else batch.valid_mask


def _leave_loop(batch: Batch, instruction: Flow, wish: Mask) -> Mask:
    """BREAK and CONTINUE: lanes with a jump wish become loop-inactive; a wavefront jumps when no lane remains."""
    masks = batch.frames[-1]
    is_continue = instruction.operation is FlowOperation.CONTINUE
    masks[CONTINUED if is_continue else BROKEN] |= wish
    batch.loop_inactive |= wish
    batch.set_active(batch.active & ~wish)
    remaining = masks[ENTERED] & ~masks[BROKEN] & _voters(batch, instruction)
    if is_continue:
        remaining &= ~masks[CONTINUED]
    return ~batch.any_lane(remaining)


def _decide(batch: Batch, program: Program, instruction: Flow, wish: Mask, frame: Frame | None) -> Mask:
    begins = instruction.operation in _BEGINS
    if begins and program.constants.int_constant(instruction.integer).count == 0:
        return np.ones(batch.wavefronts, bool)
    if frame is not None and frame.iterations == 1:
        return np.zeros(batch.wavefronts, bool)
    deciding = batch.active & _voters(batch, instruction)
    if instruction.jump_any:
        return batch.any_lane(deciding & wish)
    all_wish = ~batch.any_lane(deciding & ~wish)
    return all_wish & batch.any_lane(deciding) if begins else all_wish


def _branch(batch: Batch, program: Program, instruction: Flow, wish: Mask, jumps: Mask) -> Mask:
    """The branch operation of each wavefront's decision; wavefronts whose branch counter overflows."""
    decisions = {
        True: (instruction.branch_if_jump, jumps),
        False: (instruction.branch_if_stay, ~jumps),
    }
    overflowed = np.zeros(batch.wavefronts, bool)
    for jump, (operation, wavefronts) in decisions.items():
        if operation is BranchOperation.NONE or not wavefronts.any():
            continue
        lanes = batch.by_lane(wavefronts)
        waiting = lanes & ~batch.active & ~batch.loop_inactive
        if operation is BranchOperation.DECR:
            batch.counter[waiting] -= instruction.pop_count
            batch.set_active(batch.active | waiting & (batch.counter < 0))
        else:
            batch.counter[waiting] += 1
            limit = BRANCH_COUNTER_FULL if program.full_flow_control else BRANCH_COUNTER_PARTIAL
            overflowed |= batch.any_lane(waiting & (batch.counter > limit))
            differs = lanes & batch.active & (wish != jump)
            batch.counter[differs] = 0
            batch.set_active(batch.active & ~differs)
    return overflowed


def _outcome(
    batch: Batch, program: Program, instruction: Flow, frame: Frame | None, jumps: Mask, overflowed: Mask
) -> Outcome:
    controls: dict[bool, Control | None] = {True: None, False: None}
    for jump in controls:
        wavefronts = (jumps == jump) & ~overflowed
        if wavefronts.any():
            try:
                controls[jump] = _control(batch, program, instruction, frame, jump)
            except StackError:
                overflowed = overflowed | wavefronts
    return Outcome(jumps, overflowed, controls[True], controls[False])


def _control(batch: Batch, program: Program, instruction: Flow, frame: Frame | None, jumps: bool) -> Control:
    """Control state of wavefronts that jump or that stay."""
    control = batch.control
    pc, returns = control.pc + 1, control.returns
    if jumps:
        pc, returns = _address_step(batch, program, instruction)
    loop_index, frames = control.loop_index, control.frames
    if instruction.operation in _BEGINS and not jumps:
        if len(frames) >= (LOOP_STACK if program.full_flow_control else 0):
            raise StackError
        constant = program.constants.int_constant(instruction.integer)
        frames = (*frames, Frame(instruction.operation, constant.count, loop_index))
        if instruction.operation is FlowOperation.LOOP:
            loop_index = constant.start
    elif frame is not None and leaves(instruction, jumps):
        frames = frames[:-1]
        loop_index = frame.loop_index if frame.kind is FlowOperation.LOOP else loop_index
    elif frame is not None and instruction.operation in _ENDS:
        frames = (*frames[:-1], frame._replace(iterations=frame.iterations - 1))
        if frame.kind is FlowOperation.LOOP:
            step = program.constants.int_constant(instruction.integer).step
            loop_index = (loop_index + step) % (1 << LOOP_INDEX_BITS)
    return Control(pc, loop_index, frames, returns)


def _address_step(batch: Batch, program: Program, instruction: Flow) -> tuple[int, tuple[int, ...]]:
    """Target and address stack of a jump."""
    returns = batch.control.returns
    if instruction.address_operation is AddressOperation.PUSH:
        if len(returns) >= (ADDRESS_STACK if program.full_flow_control else 0):
            raise StackError
        return instruction.target, (*returns, batch.control.pc + 1)
    if instruction.address_operation is AddressOperation.POP:
        if not returns:
            raise StackError
        return returns[-1], returns[:-1]
    return instruction.target, returns


def leaves(instruction: Flow, jumps: bool) -> bool:
    """Whether wavefronts that jump, or that stay, leave the loop."""
    return instruction.operation in (_BREAKS if jumps else _ENDS)


def apply_frames(batch: Batch, instruction: Flow, *, jumps: bool) -> None:
    """Push or pop the loop-frame masks of a batch whose wavefronts all jump or all stay."""
    if instruction.operation in _BEGINS and not jumps:
        frame = np.zeros((3, batch.size), bool)
        frame[ENTERED] = batch.active
        batch.frames.append(frame)
    elif leaves(instruction, jumps):
        entered = batch.frames.pop()[ENTERED]
        batch.loop_inactive &= ~entered
        batch.set_active(batch.active | entered)
