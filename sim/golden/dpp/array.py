"""The array: runs batches of groups through a program until all have ended.

Of several batches the one with the lowest PC goes on first. So groups that left a loop or skipped a block wait for the
others behind it, and go on with them as one batch.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.batch import Batch, Control
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.recurrence import Recurrence
from ctm.sim.golden.dpp.sharing import SharingMonitor
from ctm.sim.golden.r5xx import alu, flow, texture
from ctm.sim.golden.r5xx.hazards import Hazard, HazardMonitor
from ctm.sim.golden.r5xx.instruction import Alu, Flow, Illegal, Tex
from ctm.sim.golden.r5xx.program import RefusedError
from ctm.sim.golden.r5xx.uncached import write_uncached
from ctm.sim.golden.r5xx.writeback import write_back


@dataclass(frozen=True)
class Fault:
    """The fault of one group; `order` is its place in the domain walk."""

    order: int
    error: MachineError


class Array:
    """Executes batches of one launch. `counters` and `fault` (that of the first group that has one) are the result."""

    def __init__(self, launch: Launch, *, hazards: bool = False) -> None:
        self._launch = launch
        self._monitor = HazardMonitor(launch.program) if hazards else None
        self._sharing = SharingMonitor()
        self._program = launch.program
        self._code = launch.program.code
        self._waiting: dict[Control, list[Batch]] = defaultdict(list)
        self.counters = Counters()
        self.fault: Fault | None = None

    def run(self, batch: Batch) -> None:
        """Run all groups of `batch` to their end."""
        self.counters.groups += batch.groups
        self._wait(batch)
        with np.errstate(all="ignore"):
            while self._waiting:
                lowest = min(self._waiting, key=lambda control: control.pc)
                self._advance(Batch.merge(self._waiting.pop(lowest)))

    def _wait(self, batch: Batch) -> None:
        self._waiting[batch.control].append(batch)

    def _advance(self, batch: Batch) -> None:
        """Run a batch until it splits, ends or stands no longer before all others."""
        barrier = min((control.pc for control in self._waiting), default=INSTRUCTION_SLOTS)
        budget = self._launch.watchdog - int(batch.settle().max()) if self._launch.watchdog else None
        recurrence = Recurrence() if budget is not None and not self._program.uncached_writes else None
        while True:
            if batch.steps == budget:
                self._bark(batch)
                return
            parts = self._step(batch)
            if len(parts) != 1 or parts[0].control.pc >= barrier or parts[0] is not batch:
                for part in parts:
                    self._wait(part)
                return
            if recurrence is not None and budget is not None:
                recurrence.skip(batch, self.counters, budget)

    def _step(self, batch: Batch) -> list[Batch]:
        """Execute one instruction; the groups that go on."""
        pc = batch.control.pc
        if pc >= len(self._code.instructions):
            return self._fault(batch, Status.PC_RANGE, f"the code has {len(self._code.instructions)} instructions")
        instruction = self._code.instructions[pc]
        batch.steps += 1
        self.counters.issued[instruction.common.type] += batch.groups
        self.counters.lane_instructions += batch.active_lanes
        if isinstance(instruction, Illegal):
            return self._fault(batch, Status.ILLEGAL_INSTRUCTION, instruction.reason)
        if self._monitor is not None:
            self._monitor.watch(batch, instruction, self._code.plans[pc])
        parts = self._execute(batch, instruction)
        is_kill = isinstance(instruction, Tex) and instruction.operation is TextureOperation.KILL_LT_0
        if pc == self._program.end or instruction.common.last or is_kill:
            parts = [rest for part in parts for rest in self._end(part, pc, last=instruction.common.last)]
        return parts

    def _execute(self, batch: Batch, instruction: Alu | Tex | Flow) -> list[Batch]:
        """Execute one instruction for all groups but those to which memory answers with an error."""
        try:
            if isinstance(instruction, Flow):
                return self._flow(batch, instruction)
            self._compute(batch, instruction)
        except RefusedError as error:
            refused = np.ones(batch.groups, bool) if error.lanes is None else batch.any_lane(error.lanes)
            self._fault(batch.select(refused), Status.BUS_ERROR, client=error.client, address=error.address)
            return [] if refused.all() else self._execute(batch.select(~refused), instruction)
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
                if self._monitor is not None:
                    self._sharing.write(batch, output, x, y, stored)
        elif instruction.operation is TextureOperation.KILL_LT_0:
            texture.kill(batch, instruction)
        elif instruction.operation is not TextureOperation.NOP:
            addresses = texture.lookup(batch, instruction, launch.inputs)
            if self._monitor is not None:
                self._sharing.read(batch, launch.inputs.buffers[instruction.input], addresses)

    def _flow(self, batch: Batch, instruction: Flow) -> list[Batch]:
        try:
            outcome = flow.execute(batch, self._program, instruction)
        except flow.StackError:
            return self._fault(batch, Status.STACK)
        except flow.FrameError:
            return self._fault(batch, Status.ILLEGAL_INSTRUCTION, "the innermost loop is of the other kind")
        if outcome.overflowed.any():
            self._fault(batch.select(outcome.overflowed), Status.STACK)
        elif outcome.jump is None or outcome.stay is None or outcome.jump == outcome.stay:
            batch.control = outcome.jump or outcome.stay  # type: ignore[assignment]
            flow.apply_frames(batch, instruction, jumps=outcome.jump is not None)
            return [batch]
        parts = []
        for jumps, control in ((True, outcome.jump), (False, outcome.stay)):
            if control is not None:
                part = batch.select((outcome.jumps == jumps) & ~outcome.overflowed)
                part.control = control
                flow.apply_frames(part, instruction, jumps=jumps)
                parts.append(part)
        return parts

    def _end(self, batch: Batch, pc: int, *, last: bool) -> list[Batch]:
        """Finish the groups that end after the instruction at `pc`; the others."""
        if pc == self._program.end:
            self._finish(batch)
            return []
        counting = batch.covered & batch.live
        ended = ~batch.any_lane(counting)
        if last:
            ended |= ~batch.any_lane(counting & ~batch.active)
        if not ended.any():
            return [batch]
        self._finish(batch.select(ended))
        return [] if ended.all() else [batch.select(~ended)]

    def _finish(self, batch: Batch) -> None:
        for output, stored in self._launch.finish(batch):
            if self._monitor is not None:
                self._sharing.write(batch, output, batch.i, batch.j, stored)

    def hazards(self) -> list[Hazard]:
        """Hazards seen so far, by PC; call it when the whole domain has run."""
        if self._monitor is None:
            return []
        self._sharing.report(self._monitor)
        return sorted(self._monitor.hazards.values(), key=lambda hazard: hazard.pc)

    def _bark(self, batch: Batch) -> None:
        """Stop the groups that used up their instructions; the others wait for their next turn."""
        ended = batch.settle() >= self._launch.watchdog
        self._fault(batch.select(ended), Status.WATCHDOG, f"a group executed {self._launch.watchdog} instructions")
        if not ended.all():
            self._wait(batch.select(~ended))

    def _fault(self, batch: Batch, status: Status, detail: str = "", **access: Any) -> list[Batch]:
        """Stop all groups of `batch` without output; `access` is the client and the address of a bus error."""
        first = int(batch.order.argmin())
        if self.fault is None or batch.order[first] < self.fault.order:
            lane = first * batch.lanes
            error = MachineError(
                status=status, pc=batch.control.pc, i=int(batch.i[lane]), j=int(batch.j[lane]), detail=detail, **access
            )
            self.fault = Fault(int(batch.order[first]), error)
        return []
