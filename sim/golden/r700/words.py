"""Executes CF instructions that are neither clauses nor exports: each operation in the steps of flow.py."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.batch import Mask
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.r700 import flow
from ctm.sim.golden.r700.instruction import Flow
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch, split

_POP_FIRST = {
    CfOperation.POP_JUMP: CfOperation.JUMP,
    CfOperation.POP_PUSH: CfOperation.PUSH,
    CfOperation.POP_PUSH_ELSE: CfOperation.PUSH_ELSE,
}
"""Operations that pop POP_COUNT entries and then are another one that pops none."""
_LOOP_STARTS = (CfOperation.LOOP_START, CfOperation.LOOP_START_DX10, CfOperation.LOOP_START_NO_AL)


class FlowWords:
    """Executes them for batches of one program. Wavefronts with a stack error fault in the journal."""

    def __init__(self, program: Program, journal: Journal[Batch]) -> None:
        self._program = program
        self._journal = journal

    def execute(self, batch: Batch, word: Flow) -> list[Batch]:
        """The wavefronts that go on, each at its next word.

        Raises
        ------
        BusError
            A constant got an error response; nothing was changed.
        """
        if word.operation in _POP_FIRST:
            # An error response for a constant must come before anything is popped.
            flow.holds(self._program, word)
            second = replace(word, operation=_POP_FIRST[word.operation], pop_count=0)
            return self._popping(batch, word, lambda subset: self.execute(subset, second))
        if word.operation in _LOOP_STARTS:
            return self._loop_start(batch, word)
        return _EXECUTE[word.operation](self, batch, word)

    def _nop(self, batch: Batch, word: Flow) -> list[Batch]:
        return [_next(batch)]

    def _kill(self, batch: Batch, word: Flow) -> list[Batch]:
        batch.valid_mask = batch.valid_mask & ~flow.passing(batch, self._program, word)
        return [_next(batch)]

    def _wait(self, batch: Batch, word: Flow) -> list[Batch]:
        batch.wait()
        return [_next(batch)]

    def _jump(self, batch: Batch, word: Flow) -> list[Batch]:
        no_lanes = ~batch.any_lane(flow.passing(batch, self._program, word))
        return self._leaving(batch, word, no_lanes, lambda subset: None)

    def _push(self, batch: Batch, word: Flow) -> list[Batch]:
        no_lanes = ~batch.any_lane(flow.passing(batch, self._program, word))

        def enter(subset: Batch) -> None:
            flow.push(subset, self._program)
            flow.restrict(subset, flow.passing(subset, self._program, word))

        return self._leaving(batch, word, no_lanes, enter)

    def _push_else(self, batch: Batch, word: Flow) -> list[Batch]:
        test = flow.passing(batch, self._program, word)

        def enter(subset: Batch) -> None:
            flow.push(subset, self._program)
            flow.restrict(subset, ~test)

        return self._then(batch, enter, lambda subset: self._leave_where_none_is_active(subset, word))

    def _else(self, batch: Batch, word: Flow) -> list[Batch]:
        inverts = flow.holds(self._program, word)

        def change(subset: Batch) -> None:
            if inverts:
                flow.invert(subset)
            else:
                flow.require_branch(subset)

        return self._then(batch, change, lambda subset: self._leave_where_none_is_active(subset, word))

    def _pop(self, batch: Batch, word: Flow) -> list[Batch]:
        flow.holds(self._program, word)

        def leave(subset: Batch) -> None:
            flow.pop(subset, word.pop_count)
            if word.condition is not Condition.ACTIVE:
                flow.restrict(subset, flow.passing(subset, self._program, word))

        return self._then(batch, leave, lambda subset: [_next(subset)])

    def _loop_start(self, batch: Batch, word: Flow) -> list[Batch]:
        no_lanes = ~batch.any_lane(flow.passing(batch, self._program, word))
        if flow.rounds(self._program, word) == 0:
            no_lanes = np.ones_like(no_lanes)

        def enter(subset: Batch) -> None:
            flow.enter_loop(subset, self._program, word, flow.passing(subset, self._program, word))

        return self._leaving(batch, word, no_lanes, enter)

    def _leave_loop(self, batch: Batch, word: Flow) -> list[Batch]:
        test = flow.passing(batch, self._program, word)
        try:
            no_lanes = flow.leave(batch, word, test)
        except flow.StackError as error:
            return self._fault(batch, error)
        batches = []
        for subset, leaves in split(batch, no_lanes):
            if leaves:
                flow.unwind(subset, word)
                subset.control = subset.control.at_word(word.target)
                batches.append(subset)
            else:
                batches.append(_next(subset))
        return batches

    def _loop_end(self, batch: Batch, word: Flow) -> list[Batch]:
        try:
            again = flow.next_round(batch, word)
        except flow.StackError as error:
            return self._fault(batch, error)
        batches = []
        for subset, repeats in split(batch, again):
            if repeats:
                subset.control = subset.control.at_word(word.target)
                batches.append(subset)
            else:
                flow.leave_loop(subset)
                batches.append(_next(subset))
        return batches

    def _call(self, batch: Batch, word: Flow) -> list[Batch]:
        calls = batch.any_lane(flow.passing(batch, self._program, word)) & flow.may_call(batch, word)
        batches: list[Batch] = []
        for subset, entered in split(batch, calls):
            if entered:
                batches += self._then(
                    subset, lambda subset: flow.call(subset, self._program, word), lambda subset: _go(subset, word)
                )
            else:
                batches.append(_next(subset))
        return batches

    def _return(self, batch: Batch, word: Flow) -> list[Batch]:
        remains = batch.any_lane(batch.active & ~flow.passing(batch, self._program, word))
        batches: list[Batch] = []
        for subset, remain in split(batch, remains):
            if remain:
                batches.append(_next(subset))
                continue
            try:
                target = flow.take_return(subset)
            except flow.StackError as error:
                batches += self._fault(subset, error)
            else:
                subset.control = subset.control.at_word(target)
                batches.append(subset)
        return batches

    def _leave_where_none_is_active(self, batch: Batch, word: Flow) -> list[Batch]:
        return self._leaving(batch, word, ~batch.any_lane(batch.active), lambda subset: None)

    def _leaving(self, batch: Batch, word: Flow, leaves: Mask, go_on: Callable[[Batch], None]) -> list[Batch]:
        """Those in `leaves` [wavefronts] pop and jump to the word's target; the others do `go_on` and continue."""
        batches: list[Batch] = []
        for subset, is_leaving in split(batch, leaves):
            if is_leaving:
                batches += self._popping(subset, word, lambda subset: _go(subset, word))
            else:
                batches += self._then(subset, go_on, lambda subset: [_next(subset)])
        return batches

    def _popping(self, batch: Batch, word: Flow, after: Callable[[Batch], list[Batch]]) -> list[Batch]:
        return self._then(batch, lambda subset: flow.pop(subset, word.pop_count), after)

    def _then(
        self, batch: Batch, action: Callable[[Batch], None], after: Callable[[Batch], list[Batch]]
    ) -> list[Batch]:
        """Do `action` and then `after`; a stack error is a fault."""
        try:
            action(batch)
        except flow.StackError as error:
            return self._fault(batch, error)
        return after(batch)

    def _fault(self, batch: Batch, error: flow.StackError) -> list[Batch]:
        self._journal.faulted(batch, Status.STACK, str(error))
        return []


def _next(batch: Batch) -> Batch:
    batch.control = batch.control.at_word(batch.control.word + 1)
    return batch


def _go(batch: Batch, word: Flow) -> list[Batch]:
    batch.control = batch.control.at_word(word.target)
    return [batch]


_EXECUTE: dict[CfOperation, Callable[[FlowWords, Batch, Flow], list[Batch]]] = {
    CfOperation.NOP: FlowWords._nop,
    CfOperation.KILL: FlowWords._kill,
    CfOperation.WAIT_ACK: FlowWords._wait,
    CfOperation.JUMP: FlowWords._jump,
    CfOperation.PUSH: FlowWords._push,
    CfOperation.PUSH_ELSE: FlowWords._push_else,
    CfOperation.ELSE: FlowWords._else,
    CfOperation.POP: FlowWords._pop,
    CfOperation.LOOP_BREAK: FlowWords._leave_loop,
    CfOperation.LOOP_CONTINUE: FlowWords._leave_loop,
    CfOperation.LOOP_END: FlowWords._loop_end,
    CfOperation.CALL: FlowWords._call,
    CfOperation.CALL_FS: FlowWords._call,
    CfOperation.RETURN: FlowWords._return,
}
