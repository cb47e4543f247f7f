"""The command processor: executes command buffers from memory.

Source: CTM Guide pp. 8-22. Every command completes before the next one begins. Caches are not modelled: a program that
follows the manual's rules for invalidating and flushing cannot tell.
"""

from collections.abc import Callable, Iterator

import numpy as np

from rtl.isa.commands import BASE_MASK, BY_WORD, Command
from rtl.isa.conditional import ConditionalLocation
from rtl.isa.formats import DataFormat
from rtl.isa.limits import ADDRESS_SPACE
from rtl.isa.status import Status
from sim.fault import MachineError
from sim.golden.dpp.array import Array
from sim.golden.dpp.batch import Batch, Mask
from sim.golden.dpp.counters import Counters
from sim.golden.dpp.hazards import Hazard
from sim.golden.dpp.launch import Launch, inputs_as_at_start
from sim.golden.dpp.program import Constants, Program
from sim.golden.pe.domain import Integers
from sim.golden.pe.loader import Image, load
from sim.golden.pe.state import State, check_parameters
from sim.memory import Memory

BATCH_LANES = 16384
"""Processors that run together: enough to hide the interpreter, few enough for the host's caches."""

_REPORTS_LOST_WRITES = ("wait_for_idle", "flush_out_cache", "flush_cond_out_cache")

Progress = Callable[[int], None]
"""Called with the processors of the domain that were walked, a part at a time."""


class CommandProcessor:
    """Executes command buffers; `lanes` is the size of a group and does not change results.

    `counters` adds up what all programs issue. With `hazards` a program that reads what was not promised to be there
    raises HAZARD when it has ended.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        lanes: int,
        counters: Counters,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
    ) -> None:
        self._memory = memory
        self._lanes = lanes
        self._watchdog = watchdog
        self._progress = progress
        self._hazards = hazards
        self._image: Image | None = None
        self.state = State()
        self.counters = counters

    def run(self, address: int, dwords: int) -> None:
        """Execute the command buffer of `dwords` words at `address`, a multiple of four.

        Raises
        ------
        MachineError
            The rest of the buffer is dropped.
        """
        for at, command, words in self._commands(address, dwords):
            check_parameters(command, at, words)
            self.state.apply(command, words)
            if command.name in ("set_inst_fmt", "inv_inst_cache"):
                self._image = None
            elif command.name == "read_perf_counters" and self.state.counters_enabled:
                # Both counters count clocks, and this model has none.
                self._memory.write(words[0] & BASE_MASK, bytes(8))
            elif command.name == "start_program":
                self._start_program(at)
            elif command.name in _REPORTS_LOST_WRITES:
                self._report_lost(at)

    def _commands(self, address: int, dwords: int) -> Iterator[tuple[int, Command, list[int]]]:
        place = 0
        while place < dwords:
            at = (address + 4 * place) % ADDRESS_SPACE
            self._check_fetch(at, 1)
            word = self._memory.word(at)
            command = BY_WORD.get(word)
            if command is None:
                raise MachineError(status=Status.BAD_COMMAND, address=at, word=word)
            if place + command.length > dwords:
                detail = f"{command.name} takes {command.length} words, but the buffer has {dwords - place} left"
                raise MachineError(status=Status.TRUNCATED, address=at, word=word, detail=detail)
            self._check_fetch(at, command.length)
            yield at, command, [int(value) for value in self._memory.words(at + 4, command.length - 1)]
            place += command.length

    def _report_lost(self, at: int) -> None:
        lost, self._memory.lost = self._memory.lost, None
        if lost is not None:
            detail = f"a write-back to 0x{lost:08x} failed"
            raise MachineError(status=Status.BUS_ERROR, address=at, word=self._memory.word(at), detail=detail)

    def _check_fetch(self, address: int, words: int) -> None:
        if self._memory.is_refused(address, 4 * words):
            raise MachineError(status=Status.BUS_ERROR, address=address, detail="the command buffer cannot be read")

    def _start_program(self, at: int) -> None:
        if self.state.domain.is_empty:
            return
        try:
            launch = self._launch()
            error = self._run(launch)
            if error is not None:
                raise error
        except MachineError as error:
            raise error.at(at, self._memory.word(at)) from None

    def _launch(self) -> Launch:
        """Load the program where it is not, and check what it needs."""
        state = self.state
        if self._image is None:
            self._image = load(self._memory, state.instruction_base)
        bases = state.constant_bases
        constants = Constants(self._memory, bases["set_constf_fmt"], bases["set_consti_fmt"], bases["set_constb_fmt"])
        program = Program(image=self._image, constants=constants)
        if not state.conditional.format_is_legal:
            raise MachineError(status=Status.BAD_CONDITIONAL_FORMAT)
        if program.uncached_writes and state.outputs[0].format is not DataFormat.FLOAT32_1:
            raise MachineError(status=Status.BAD_UMRT_FORMAT)
        outputs = tuple(state.outputs)
        written = state.conditional.buffer if state.conditional.may_write_buffer else None
        return Launch(
            program=program,
            memory=self._memory,
            inputs=inputs_as_at_start(self._memory, tuple(state.inputs), program, outputs, written),
            outputs=outputs,
            output_mask=state.output_mask,
            conditional=state.conditional,
            conditional_value=np.uint32(state.conditional_value).view(np.float32),
            lanes=self._lanes,
            watchdog=self._watchdog,
        )

    def _run(self, launch: Launch) -> MachineError | None:
        """Run the whole domain; the fault of the first group that has one, or the hazards where they are watched."""
        array = Array(launch, hazards=self._hazards)
        order = 0
        for i, j, covered in self.state.domain.groups(self._lanes, BATCH_LANES // self._lanes):
            batch_order = np.arange(order, order + i.size // self._lanes)
            order += batch_order.size
            walked = int(np.count_nonzero(covered))
            if launch.conditional.location is ConditionalLocation.PE:
                covered = self._test(launch, i, j, covered)
            batch = Batch.start(
                launch.program, self._lanes, batch_order, i, j, covered, launch.first_conditional(i.size)
            )
            issued = batch.any_lane(covered)
            if issued.any():
                array.run(batch if issued.all() else batch.select(issued))
            if self._progress is not None:
                self._progress(walked)
        self.counters.add(array.counters)
        return array.fault.error if array.fault is not None else _hazard(array.hazards())

    def _test(self, launch: Launch, i: Integers, j: Integers, covered: Mask) -> Mask:
        """Conditional execution: the pairs that the conditional unit lets pass."""
        lanes = np.flatnonzero(covered)
        value = np.full(lanes.size, launch.conditional_value)
        passed, stored = launch.conditional.decide(self._memory, i[lanes], j[lanes], value)
        launch.conditional.store(self._memory, i[lanes][stored], j[lanes][stored], value[stored])
        result = np.zeros(covered.size, bool)
        result[lanes[passed]] = True
        return result


def _hazard(hazards: list[Hazard]) -> MachineError | None:
    if not hazards:
        return None
    first = hazards[0]
    lines = [f"pc {hazard.pc}: {hazard.text}" for hazard in hazards]
    return MachineError(status=Status.HAZARD, pc=first.pc, i=first.i, j=first.j, detail="; ".join(lines))
