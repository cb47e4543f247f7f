"""The array as the command processor sees it: it starts programs of one instruction set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.array import Array
from ctm.sim.golden.dpp.batch import Integers
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.hazard import Hazard
from ctm.sim.golden.dpp.inputs import inputs_as_at_start
from ctm.sim.golden.dpp.instruction_set import B, Executor, Observer, StoreObserver
from ctm.sim.golden.dpp.journal import Fault, Journal
from ctm.sim.golden.dpp.launch import Launch, P
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.state import Start as DrawStart
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.loader import Image, load
from ctm.sim.golden.pe.state import State
from ctm.sim.memory import Memory


def _pc(pc: int) -> str:
    return f"pc {pc}"


@dataclass(frozen=True, kw_only=True)
class InstructionSet(Generic[P, B]):
    """What the array needs of an instruction set.

    name
        As `ArrayConfig.instruction_set` and `PROGRAM_FORMATS` have it.
    units
        What `Counters.issued` counts: its kinds of instructions.
    program
        Makes a program of a loaded image and the constants. An image that it rejects ends with BAD_EXECUTABLE.
    executor
        Makes what executes a launch and tells a journal of it.
    describe_pc
        Text for a PC in messages.
    unit
        The unit of code at a PC.
    stages
        Makes the programs of a draw; None if there are no draws.
    """

    name: str
    units: tuple[str, ...]
    program: Callable[[Image, Constants], P]
    executor: Callable[[Launch[P], Journal[B]], Executor[B]]
    describe_pc: Callable[[int], str] = _pc
    unit: Callable[[int], int] = int
    stages: Callable[["ArrayCore[P, B]", State, DrawState, DrawStart], Stages] | None = None


class ArrayCore(Generic[P, B]):
    """Starts programs of `instruction_set`.

    `counters` adds up what all programs issue. With `hazards` a program ends with HAZARD if it reads a value that
    the rules of synchronisation do not promise. `watchdog` is the number of instructions that a wavefront may execute,
    0 = any. The observers see all programs, and the tally counts what they issue.
    """

    def __init__(
        self,
        instruction_set: InstructionSet[P, B],
        memory: Memory,
        *,
        lanes: int,
        watchdog: int = 0,
        hazards: bool = False,
        observers: Sequence[Observer[B]] = (),
        tally: Tally | None = None,
    ) -> None:
        self._instruction_set = instruction_set
        self._memory = memory
        self._tally = tally
        self.lanes = lanes
        self._watchdog = watchdog
        self._hazards = hazards
        self._observers = observers
        self._image: Image | None = None
        self.counters = Counters(issued=dict.fromkeys(instruction_set.units, 0))
        self._runs = WeakSet[ArrayRun[P, B]]()

    def invalidate_program(self) -> None:
        """Load the program again at the next start."""
        self._image = None

    def start(self, state: State) -> "ArrayRun[P, B]":
        """Load the program where it is not, check what it needs, and begin it; see `Core.start`."""
        return self.run(self.launch(state))

    def run(self, launch: Launch[P], *observers: Observer[B]) -> "ArrayRun[P, B]":
        """Begin a program that was launched, which these observers see, too."""
        run = ArrayRun(
            self._instruction_set, launch, total=self.counters, hazards=self._hazards,
            observers=(*self._observers, *observers), tally=self._tally,
        )  # fmt: skip
        self._runs.add(run)
        return run

    def standing(self) -> Counters:
        """`counters`, and what programs that have not ended issued so far."""
        counters = Counters()
        for each in (self.counters, *(run.counters for run in self._runs if not run.is_finished)):
            counters.add(each)
        return counters

    def image(self, state: State) -> Image:
        """The loaded program, which is loaded again only after `invalidate_program`."""
        if self._image is None:
            self._image = load(self._memory, state.instruction_base, self._instruction_set.name)
        return self._image

    def constants(self, state: State) -> Constants:
        """The constant files as they are now."""
        bases = state.constant_bases
        return Constants(self._memory, bases["set_constf_fmt"], bases["set_consti_fmt"], bases["set_constb_fmt"])

    def stages(self, state: State, draws: DrawState, start: DrawStart) -> Stages:
        """The programs of a draw, after the checks of what they need; only where there is `InstructionSet.stages`."""
        assert self._instruction_set.stages is not None
        return self._instruction_set.stages(self, state, draws, start)

    def launch(self, state: State) -> Launch[P]:
        """All that a program reads and writes, after the checks of `start`."""
        return self.launch_of(state, self._instruction_set.program(self.image(state), self.constants(state)))

    def launch_of(self, state: State, program: P) -> Launch[P]:
        """All that this program reads and writes, after the checks of what it needs."""
        if not state.conditional.format_is_legal:
            raise MachineError(status=Status.BAD_CONDITIONAL_FORMAT)
        if not all(program.takes_uncached(state.outputs[output]) for output in program.uncached_outputs):
            raise MachineError(status=Status.BAD_UMRT_FORMAT)
        outputs = tuple(state.outputs)
        written = state.conditional.buffer if state.conditional.may_write_buffer else None
        return Launch(
            program=program,
            executable=state.instruction_base,
            memory=self._memory,
            inputs=inputs_as_at_start(self._memory, tuple(state.inputs), program, outputs, written),
            outputs=outputs,
            output_mask=state.output_mask,
            conditional=state.conditional,
            conditional_value=state.conditional_float,
            domain=state.domain,
            lanes=self.lanes,
            watchdog=self._watchdog,
        )


class ArrayRun(Generic[P, B]):
    """One program on the array. What it issued is added to `total` when it is finished."""

    def __init__(
        self,
        instruction_set: InstructionSet[P, B],
        launch: Launch[P],
        *,
        total: Counters | None = None,
        hazards: bool = False,
        observers: Sequence[Observer[B]] = (),
        tally: Tally | None = None,
        stores: StoreObserver[B] | None = None,
    ) -> None:
        self._instruction_set = instruction_set
        self._journal = Journal[B](
            launch,
            describe_pc=instruction_set.describe_pc,
            hazards=hazards,
            observers=observers,
            tally=tally,
            stores=stores,
        )
        self._executor = instruction_set.executor(launch, self._journal)
        self._array = Array[B](launch, self._executor, self._journal)
        self._total = total
        self.is_finished = False

    @property
    def counters(self) -> Counters:
        """What was issued so far."""
        return self._journal.counters

    @property
    def fault(self) -> Fault | None:
        """The fault of the first wavefront that faulted, of those that have run."""
        return self._journal.fault

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts to their end; see `Run.add`.

        If an observer raises, the wavefronts count as not run. Outputs of wavefronts that ended before that stay in
        memory.
        """
        with self._journal.kept_where_raised():
            self.execute(wavefronts.order, *wavefronts.pairs(), wavefronts.covered())

    def execute(self, order: Integers, i: Integers, j: Integers, covered: npt.NDArray[np.bool_]) -> None:
        """Run wavefronts to their end: `order` has their indices in the walk, i, j and coverage are of lanes."""
        batch = self._executor.start(order, i, j, covered)
        issued = batch.any_lane(covered)
        if issued.any():
            self._array.run(batch if issued.all() else batch.select(issued))

    def hazards(self) -> list[Hazard]:
        """Hazards by PC, where they are watched; complete when all wavefronts were added."""
        return self._journal.all_hazards()

    def finish(self) -> MachineError | None:
        """The fault of the first wavefront that has one, or the hazards where they are watched."""
        self.is_finished = True
        if self._total is not None:
            self._total.add(self.counters)
        if self.fault is not None:
            return self.fault.error
        hazards = self.hazards()
        if not hazards:
            return None
        describe, first = self._instruction_set.describe_pc, hazards[0]
        detail = "; ".join(f"{describe(hazard.pc)}: {hazard.text}" for hazard in hazards)
        findings = tuple((hazard.pc, hazard.text) for hazard in hazards)
        return MachineError(
            status=Status.HAZARD, pc=first.pc, i=first.i, j=first.j, place=describe(first.pc), detail=detail,
            findings=findings,
        )  # fmt: skip
