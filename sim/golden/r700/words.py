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
    """Executes them for batches of one program. Wavefronts whose stack is wrong fault in the journal."""

    def __init__(self, program: Program, journal: Journal[Batch]) -> None:
        self._program = program
        self._journal = journal

    def execute(self, batch: Batch, word: Flow) -> list[Batch]:
        """The wavefronts that go on, each at its next word.

        Raises
        ------
        BusError
            Memory answered with an error where a constant is; nothing was changed.
        """
        if word.operation in _POP_FIRST:
            # A constant that memory refuses has to be found before anything is popped.
            flow.holds(self._program, word)
            second = replace(word, operation=_POP_FIRST[word.operation], pop_count=0)
            return self._popping(batch, word, lambda part: self.execute(part, second))
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
        nobody = ~batch.any_lane(flow.passing(batch, self._program, word))
        return self._leaving(batch, word, nobody, lambda part: None)

    def _push(self, batch: Batch, word: Flow) -> list[Batch]:
        nobody = ~batch.any_lane(flow.passing(batch, self._program, word))

        def enter(part: Batch) -> None:
            flow.push(part, self._program)
            flow.restrict(part, flow.passing(part, self._program, word))

        return self._leaving(batch, word, nobody, enter)

    def _push_else(self, batch: Batch, word: Flow) -> list[Batch]:
        test = flow.passing(batch, self._program, word)

        def enter(part: Batch) -> None:
            flow.push(part, self._program)
            flow.restrict(part, ~test)

        return self._then(batch, enter, lambda part: self._leave_where_nobody_is_active(part, word))

    def _else(self, batch: Batch, word: Flow) -> list[Batch]:
        inverts = flow.holds(self._program, word)

        def turn(part: Batch) -> None:
            if inverts:
                flow.invert(part)
            else:
                flow.require_branch(part)

        return self._then(batch, turn, lambda part: self._leave_where_nobody_is_active(part, word))

    def _pop(self, batch: Batch, word: Flow) -> list[Batch]:
        flow.holds(self._program, word)

        def leave(part: Batch) -> None:
            flow.pop(part, word.pop_count)
            if word.condition is not Condition.ACTIVE:
                flow.restrict(part, flow.passing(part, self._program, word))

        return self._then(batch, leave, lambda part: [_next(part)])

    def _loop_start(self, batch: Batch, word: Flow) -> list[Batch]:
        nobody = ~batch.any_lane(flow.passing(batch, self._program, word))
        if flow.rounds(self._program, word) == 0:
            nobody = np.ones_like(nobody)

        def enter(part: Batch) -> None:
            flow.enter_loop(part, self._program, word, flow.passing(part, self._program, word))

        return self._leaving(batch, word, nobody, enter)

    def _leave_loop(self, batch: Batch, word: Flow) -> list[Batch]:
        test = flow.passing(batch, self._program, word)
        try:
            nobody = flow.leave(batch, word, test)
        except flow.StackError as error:
            return self._fault(batch, error)
        parts = []
        for part, left in split(batch, nobody):
            if left:
                flow.unwind(part, word)
                part.control = part.control.at_word(word.target)
                parts.append(part)
            else:
                parts.append(_next(part))
        return parts

    def _loop_end(self, batch: Batch, word: Flow) -> list[Batch]:
        try:
            again = flow.next_round(batch, word)
        except flow.StackError as error:
            return self._fault(batch, error)
        parts = []
        for part, repeats in split(batch, again):
            if repeats:
                part.control = part.control.at_word(word.target)
                parts.append(part)
            else:
                flow.leave_loop(part)
                parts.append(_next(part))
        return parts

    def _call(self, batch: Batch, word: Flow) -> list[Batch]:
        calls = batch.any_lane(flow.passing(batch, self._program, word)) & flow.may_call(batch, word)
        parts: list[Batch] = []
        for part, entered in split(batch, calls):
            if entered:
                parts += self._then(
                    part, lambda part: flow.call(part, self._program, word), lambda part: _go(part, word)
                )
            else:
                parts.append(_next(part))
        return parts

    def _return(self, batch: Batch, word: Flow) -> list[Batch]:
        stays = batch.any_lane(batch.active & ~flow.passing(batch, self._program, word))
        parts: list[Batch] = []
        for part, stay in split(batch, stays):
            if stay:
                parts.append(_next(part))
                continue
            try:
                target = flow.take_return(part)
            except flow.StackError as error:
                parts += self._fault(part, error)
            else:
                part.control = part.control.at_word(target)
                parts.append(part)
        return parts

    def _leave_where_nobody_is_active(self, batch: Batch, word: Flow) -> list[Batch]:
        return self._leaving(batch, word, ~batch.any_lane(batch.active), lambda part: None)

    def _leaving(self, batch: Batch, word: Flow, leaves: Mask, stay: Callable[[Batch], None]) -> list[Batch]:
        """Those in `leaves` [groups] pop and go to the word's target; the others do `stay` and go to the next word."""
        parts: list[Batch] = []
        for part, left in split(batch, leaves):
            if left:
                parts += self._popping(part, word, lambda part: _go(part, word))
            else:
                parts += self._then(part, stay, lambda part: [_next(part)])
        return parts

    def _popping(self, batch: Batch, word: Flow, after: Callable[[Batch], list[Batch]]) -> list[Batch]:
        return self._then(batch, lambda part: flow.pop(part, word.pop_count), after)

    def _then(
        self, batch: Batch, action: Callable[[Batch], None], after: Callable[[Batch], list[Batch]]
    ) -> list[Batch]:
        """Do what may find the stack wrong, and go on behind it."""
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
