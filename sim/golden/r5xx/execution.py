"""Executes R5xx programs: one instruction for all wavefronts of a batch."""

from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.batch import Integers, Mask
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r5xx import alu, flow, texture
from ctm.sim.golden.r5xx.explanation import OTHER_LOOP, out_of_range
from ctm.sim.golden.r5xx.hazards import HazardMonitor
from ctm.sim.golden.r5xx.instruction import Alu, Flow, Illegal, Tex
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.golden.r5xx.uncached import write_uncached
from ctm.sim.golden.r5xx.writeback import write_back


class Execution:
    """The executor of the R5xx instruction set."""

    def __init__(self, launch: Launch[Program], journal: Journal[Batch]) -> None:
        self._launch = launch
        self._journal = journal
        self._program = launch.program
        self._code = launch.program.code
        self._monitor = None if journal.hazards is None else HazardMonitor(launch.program, journal.hazards)

    def start(self, order: Integers, i: Integers, j: Integers, covered: Mask) -> Batch:
        """Wavefronts at the program's start; see `Executor.start`."""
        launch = self._launch
        return Batch.start(self._program, launch.lanes, order, i, j, covered, launch.first_conditional(i.size))

    def step(self, batch: Batch) -> list[Batch]:
        """Execute one instruction. Returns the wavefronts that go on."""
        pc = batch.control.pc
        if pc >= len(self._code.instructions):
            self._journal.faulted(batch, Status.PC_RANGE, out_of_range(len(self._code.instructions)))
            return []
        instruction = self._code.instructions[pc]
        batch.steps += 1
        self._journal.issued(batch, instruction.common.type.name)
        if isinstance(instruction, Illegal):
            self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, instruction.reason)
            return []
        if self._monitor is not None:
            self._monitor.watch(batch, instruction, self._code.plans[pc])
        batches = self._journal.guard(batch, lambda batch: self._execute(batch, instruction))
        self._journal.executed(pc, batches)
        is_kill = isinstance(instruction, Tex) and instruction.operation is TextureOperation.KILL_LT_0
        if pc == self._program.end or instruction.common.last or is_kill:
            batches = [going for each in batches for going in self._end(each, pc, last=instruction.common.last)]
        return batches

    def _execute(self, batch: Batch, instruction: Alu | Tex | Flow) -> list[Batch]:
        if isinstance(instruction, Flow):
            return self._flow(batch, instruction)
        self._compute(batch, instruction)
        batch.control = batch.control._replace(pc=batch.control.pc + 1)
        return [batch]

    def _compute(self, batch: Batch, instruction: Alu | Tex) -> None:
        launch = self._launch
        if isinstance(instruction, Alu):
            results = alu.execute(batch, self._program, instruction, self._code.plans[batch.control.pc])
            write_back(batch, self._program, instruction, results)
            if self._program.uncached_writes and instruction.is_output and instruction.common.output_mask:
                enabled, output = launch.output_mask[0], launch.outputs[0]
                x, y, stored = write_uncached(batch, instruction, results, launch.memory, output, enabled=enabled)
                self._journal.wrote(batch, output, x, y, stored)
        elif instruction.operation is TextureOperation.KILL_LT_0:
            texture.kill(batch, instruction)
        elif instruction.operation is not TextureOperation.NOP:
            addresses = texture.fetch(batch, instruction, launch.inputs)
            self._journal.read(batch, launch.inputs.buffers[instruction.input], addresses)

    def _flow(self, batch: Batch, instruction: Flow) -> list[Batch]:
        try:
            outcome = flow.execute(batch, self._program, instruction)
        except flow.StackError:
            self._journal.faulted(batch, Status.STACK)
            return []
        except flow.FrameError:
            self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, OTHER_LOOP)
            return []
        if outcome.overflowed.any():
            self._journal.faulted(batch.select(outcome.overflowed), Status.STACK)
        if outcome.shared is not None:
            batch.control = outcome.shared
            flow.apply_frames(batch, instruction, jumps=outcome.jump is not None)
            return [batch]
        batches = []
        for jumps, control in ((True, outcome.jump), (False, outcome.stay)):
            if control is not None:
                each = batch.select((outcome.jumps == jumps) & ~outcome.overflowed)
                each.control = control
                flow.apply_frames(each, instruction, jumps=jumps)
                batches.append(each)
        return batches

    def _end(self, batch: Batch, pc: int, *, last: bool) -> list[Batch]:
        """Finish the wavefronts that end after the instruction at `pc`. Returns the others."""
        if pc == self._program.end:
            self._journal.ended(batch)
            return []
        counting = batch.covered & batch.valid_mask
        ended = ~batch.any_lane(counting)
        if last:
            ended |= ~batch.any_lane(counting & ~batch.active)
        if not ended.any():
            return [batch]
        self._journal.ended(batch.select(ended))
        return [] if ended.all() else [batch.select(~ended)]
