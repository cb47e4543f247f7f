"""Executes R700 programs: one CF instruction, ALU group or fetch instruction for all wavefronts of a batch."""

from collections.abc import Callable, Mapping

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.control_flow import ACKNOWLEDGED_CLAUSES, EMITS, FETCH_CLAUSES, AluClause
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, LDS_BANKS
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp import batch as dpp
from ctm.sim.golden.dpp.batch import Integers, Mask
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700 import alu, exports, flow
from ctm.sim.golden.r700.decode.explanation import NO_LOOP, clause_out_of_range, word_out_of_range
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.golden.r700.fetches import Fetches
from ctm.sim.golden.r700.hazards import watch
from ctm.sim.golden.r700.instruction import AluWord, Clause, Export, Flow, Group, Illegal
from ctm.sim.golden.r700.memory import pixel_number
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch, Control, split, whole_quads
from ctm.sim.golden.r700.words import FlowWords

ALU, FETCH, CONTROL = "ALU", "FETCH", "CF"
UNITS = (CONTROL, ALU, FETCH)
"""Kinds of instructions: CF instructions, ALU groups, fetch instructions."""


class Execution:
    """The executor of the R700 instruction set."""

    def __init__(self, launch: Launch[Program], journal: Journal[Batch]) -> None:
        self._launch = launch
        self._journal = journal
        self._program = launch.program
        self._words = FlowWords(launch.program, journal)
        self._fetches = Fetches(launch, journal)

    def start(self, order: Integers, i: Integers, j: Integers, covered: Mask) -> Batch:
        """Wavefronts at the program's start; see `Executor.start`."""
        launch, information = self._launch, self._program.information
        size, temporaries = i.size, self._program.temporaries
        arrays = dpp.at_start(
            temporaries=temporaries,
            outputs=len(self._program.outputs),
            lanes=launch.lanes,
            order=order,
            i=i,
            j=j,
            covered=covered,
            conditional=launch.first_conditional(size),
        )
        batch = Batch(
            control=Control(information.start),
            branch_mask=np.ones(size, bool),
            continue_mask=np.zeros(size, bool),
            break_mask=np.zeros(size, bool),
            cleared=np.zeros(size, bool),
            predicate=np.zeros(size, bool),
            address=np.zeros((CHANNELS, size), np.int64),
            previous=np.zeros((GROUP_SLOTS, size), np.float32),
            share=np.zeros((information.lds_dwords, LDS_BANKS, order.size), np.uint32),
            **{**arrays, "clean": [True] * (CHANNELS * temporaries)},
        )
        self._set_registers(batch)
        return batch

    def _set_registers(self, batch: Batch) -> None:
        """What registers hold at the start."""
        launch, size = self._launch, batch.size
        if isinstance(launch, ThreadLaunch | PixelLaunch):
            launch.set_registers(batch)
        elif self._program.information.type is ProgramType.CS:
            i, j = batch.i, batch.j
            integers = (i, j, pixel_number(launch, batch), np.arange(size) % launch.lanes)
            for channel, values in enumerate(integers):
                batch.temporaries[0, channel] = values.astype(np.int64).astype(np.uint32).view(np.float32)
            batch.clean[:CHANNELS] = [False] * CHANNELS

    def step(self, batch: Batch) -> list[Batch]:
        """Execute one CF instruction, group or fetch instruction. Returns the wavefronts that go on."""
        if batch.control.item >= 0:
            return self._step_in_clause(batch)
        ended = ~batch.any_lane(batch.covered & batch.valid_mask)
        if ended.any():
            self._journal.ended(batch.select(ended))
            return [] if ended.all() else [batch.select(~ended)]
        return self._step_word(batch)

    def _step_word(self, batch: Batch) -> list[Batch]:
        address, code = batch.control.word, self._program.code
        if address >= len(code):
            self._journal.faulted(batch, Status.PC_RANGE, word_out_of_range(address, len(code)))
            return []
        word = code.word(address)
        batch.steps += 1
        self._journal.issued(batch, CONTROL)
        if isinstance(word, Illegal):
            self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, word.reason)
            return []
        pc = batch.control.pc
        batches = self._journal.guard(batch, lambda batch: self._word(batch, word))
        self._journal.executed(pc, batches)
        return self._after(word, batches)

    def _after(self, word: AluWord | Export | Flow, batches: list[Batch]) -> list[Batch]:
        """End the wavefronts that executed the program's last word. Returns the others."""
        if not word.ends:
            return batches
        for each in batches:
            if each.control.item < 0:
                self._journal.ended(each)
        return [each for each in batches if each.control.item >= 0]

    def _word(self, batch: Batch, word: AluWord | Export | Flow) -> list[Batch]:
        if isinstance(word, AluWord):
            return self._start(batch, word, batch.active, pushes=word.operation is AluClause.ALU_PUSH_BEFORE)
        if isinstance(word, Export):
            if word.relative and not flow.is_in_loop(batch):
                self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, NO_LOOP)
                return []
            executing = batch.active & batch.valid_mask & batch.covered if word.valid_pixels else batch.active
            exports.execute(batch, self._launch, self._journal, word, executing)
            batch.control = batch.control.at_word(batch.control.word + 1)
            return [batch]
        if word.operation in FETCH_CLAUSES:
            if word.operation in ACKNOWLEDGED_CLAUSES:
                batch.wait()
            return self._start(batch, word, flow.passing(batch, self._program, word), pushes=False)
        if word.operation in EMITS:
            return self._emit(batch, word)
        return self._words.execute(batch, word)

    def _emit(self, batch: Batch, word: Flow) -> list[Batch]:
        launch = self._launch
        assert isinstance(launch, ThreadLaunch) and launch.emits is not None
        mask = flow.passing(batch, self._program, word) & batch.valid_mask & batch.covered
        launch.emits.execute(word.operation, batch.i[mask])
        batch.control = batch.control.at_word(batch.control.word + 1)
        return [batch]

    def _start(self, batch: Batch, word: AluWord | Flow, test: Mask, *, pushes: bool) -> list[Batch]:
        """Begin a clause; wavefronts without a pixel that passes `test` skip it."""
        runs = batch.any_lane(test)
        clause = self._program.code.clause(batch.control.word) if runs.any() else None
        batches: list[Batch] = []
        for each, entered in split(batch, runs):
            if pushes and not self._attempt(each, lambda each: flow.push(each, self._program)):
                continue
            if entered and clause is None:
                self._journal.faulted(each, Status.PC_RANGE, clause_out_of_range(word, len(self._program.code)))
                continue
            if entered:
                assert clause is not None
                self._enter(each, clause)
                batches.append(each)
            else:
                batches += self._finish_clause(each, word)
        return batches

    @staticmethod
    def _enter(batch: Batch, clause: Clause) -> None:
        """Go to the first instruction of a clause; state that lasts for a clause is 0."""
        batch.control = batch.control._replace(item=0, address=clause.addresses[0])
        batch.address = np.zeros_like(batch.address)
        batch.predicate = np.zeros_like(batch.predicate)

    def _finish_clause(self, batch: Batch, word: AluWord | Flow) -> list[Batch]:
        """Do what a word does after its clause, executed or skipped, and go to the next word."""
        batch.control = batch.control.at_word(batch.control.word)
        action = _AFTER_CLAUSE.get(word.operation) if isinstance(word, AluWord) else None
        if action is not None and not self._attempt(batch, action):
            return []
        # Not at the clause's start: a word that skips its clause has no start, and clears no pixel.
        batch.cleared = np.zeros_like(batch.cleared)
        batch.control = batch.control.at_word(batch.control.word + 1)
        return [batch]

    def _attempt(self, batch: Batch, action: Callable[[Batch], None]) -> bool:
        """Do `action`; the wavefronts fault at a stack error. Returns whether there was none."""
        try:
            action(batch)
        except flow.StackError as error:
            self._journal.faulted(batch, Status.STACK, str(error))
            return False
        return True

    def _step_in_clause(self, batch: Batch) -> list[Batch]:
        control, code = batch.control, self._program.code
        word = code.word(control.word)
        assert isinstance(word, AluWord | Flow)
        clause = code.clause(control.word)
        assert clause is not None
        instruction = clause.instructions[control.item]
        batch.steps += 1
        self._journal.issued(batch, ALU if isinstance(word, AluWord) else FETCH)
        if isinstance(instruction, Illegal):
            self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, instruction.reason)
            return []
        if self._journal.hazards is not None:
            watch(batch, instruction, self._journal.hazards)

        def execute(batch: Batch) -> list[Batch]:
            if isinstance(instruction, Group):
                alu.execute(batch, self._program, instruction, whole=word.whole_quads)
            else:
                assert isinstance(word, Flow)
                self._fetches.execute(batch, instruction, self._fetching(batch, word))
            return [batch]

        batches = self._journal.guard(batch, execute)
        batches = [going for each in batches for going in self._go_on(each, word, clause)]
        self._journal.executed(control.pc, batches)
        return self._after(word, batches)

    def _fetching(self, batch: Batch, word: Flow) -> Mask:
        mask = flow.passing(batch, self._program, word)
        return whole_quads(mask) if word.whole_quads else mask

    def _go_on(self, batch: Batch, word: AluWord | Flow, clause: Clause) -> list[Batch]:
        """Go to the next instruction of a clause, or to the word after its clause."""
        item = batch.control.item + 1
        if item == len(clause.instructions):
            return self._finish_clause(batch, word)
        batch.control = batch.control._replace(item=item, address=clause.addresses[item])
        return [batch]


def _leave_by(name: str) -> Callable[[Batch], None]:
    """What ALU_BREAK and ALU_CONTINUE do with the pixels that the clause took out of the branch mask."""

    def leave(batch: Batch) -> None:
        batch.branch_mask = batch.branch_mask | batch.cleared
        setattr(batch, name, getattr(batch, name) | batch.cleared)
        batch.update_active()

    return leave


_AFTER_CLAUSE: Mapping[AluClause, Callable[[Batch], None]] = {
    AluClause.ALU_POP_AFTER: lambda batch: flow.pop(batch, 1),
    AluClause.ALU_POP2_AFTER: lambda batch: flow.pop(batch, 2),
    AluClause.ALU_ELSE_AFTER: flow.invert,
    AluClause.ALU_BREAK: _leave_by("break_mask"),
    AluClause.ALU_CONTINUE: _leave_by("continue_mask"),
}
