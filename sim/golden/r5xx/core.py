"""The R5xx array as the command processor sees it."""

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.array import Array
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.launch import Launch, inputs_as_at_start
from ctm.sim.golden.pe.domain import Integers
from ctm.sim.golden.pe.loader import Image, load
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r5xx.program import Constants, Program
from ctm.sim.memory import Memory


class R5xxCore:
    """Starts programs of the R5xx instruction set.

    `counters` adds up what all programs issue. With `hazards` a program that reads what was not promised to be there
    ends with HAZARD. `watchdog` is the number of instructions that a group may execute, 0 = any.
    """

    def __init__(
        self, memory: Memory, *, lanes: int, counters: Counters, watchdog: int = 0, hazards: bool = False
    ) -> None:
        self._memory = memory
        self.lanes = lanes
        self._counters = counters
        self._watchdog = watchdog
        self._hazards = hazards
        self._image: Image | None = None

    def forget_program(self) -> None:
        """Load the program again at the next start."""
        self._image = None

    def start(self, state: State) -> "R5xxRun":
        """Load the program where it is not, check what it needs, and begin it; see `Core.start`."""
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
        launch = Launch(
            program=program,
            memory=self._memory,
            inputs=inputs_as_at_start(self._memory, tuple(state.inputs), program, outputs, written),
            outputs=outputs,
            output_mask=state.output_mask,
            conditional=state.conditional,
            conditional_value=state.conditional_float,
            lanes=self.lanes,
            watchdog=self._watchdog,
        )
        return R5xxRun(launch, self._counters, hazards=self._hazards)


class R5xxRun:
    """One program on the array."""

    def __init__(self, launch: Launch, counters: Counters, *, hazards: bool) -> None:
        self._launch = launch
        self._counters = counters
        self._array = Array(launch, hazards=hazards)

    def add(self, order: Integers, i: Integers, j: Integers, covered: npt.NDArray[np.bool_]) -> None:
        """Run groups to their end; see `Run.add`."""
        launch = self._launch
        batch = Batch.start(launch.program, launch.lanes, order, i, j, covered, launch.first_conditional(i.size))
        issued = batch.any_lane(covered)
        if issued.any():
            self._array.run(batch if issued.all() else batch.select(issued))

    def finish(self) -> MachineError | None:
        """The fault of the first group that has one, or the hazards where they are watched."""
        self._counters.add(self._array.counters)
        if self._array.fault is not None:
            return self._array.fault.error
        hazards = self._array.hazards()
        if not hazards:
            return None
        first, lines = hazards[0], [f"pc {hazard.pc}: {hazard.text}" for hazard in hazards]
        return MachineError(status=Status.HAZARD, pc=first.pc, i=first.i, j=first.j, detail="; ".join(lines))
