"""The launches of a job, one after the other, each when the session asks for it.

The job runs in a thread of its own up to a launch, which it hands over; when all wavefronts of the launch have run, it
goes on. One of the two threads runs at any time.
"""

from dataclasses import dataclass
from functools import partial
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.given_engine import GivenEngineExecution
from ctm.sim.engines.engine import Engine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayCore, ArrayRun, InstructionSet
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import Groups
from ctm.sim.golden.pe.processor import BATCH_LANES
from ctm.sim.golden.pe.state import State
from ctm.sim.jobs.execution import Run
from ctm.sim.jobs.loading import LoadedJob


@dataclass(frozen=True, eq=False)
class Started:
    """A launch whose wavefronts are still to run, in the order of the domain walk.

    `order` [wavefronts] counts those of the whole domain; `i`, `j` and `covered` [wavefronts, lanes]. Only wavefronts
    with a covered processor are here.
    """

    number: int
    instruction_set: InstructionSet[Any, Any]
    launch: Launch[Any]
    order: npt.NDArray[np.signedinteger]
    i: npt.NDArray[np.signedinteger]
    j: npt.NDArray[np.signedinteger]
    covered: npt.NDArray[np.bool_]

    def index(self, order: int) -> int:
        """The index of the wavefront with this place in the domain walk."""
        return int(np.searchsorted(self.order, order))

    @property
    def together(self) -> int:
        """Wavefronts that run together."""
        return max(1, BATCH_LANES // self.launch.lanes)

    def execute(self, run: ArrayRun[Any, Any], first: int, end: int) -> None:
        """Run wavefronts from `first` to before `end` to their ends."""
        for begin in range(first, end, self.together):
            part = slice(begin, min(begin + self.together, end))
            run.execute(self.order[part], self.i[part].ravel(), self.j[part].ravel(), self.covered[part].ravel())

    def without(self, i: int, j: int) -> str:
        """Why no wavefront has a processor."""
        domain = self.launch.domain
        if domain.i0 <= i <= domain.i1 and domain.j0 <= j <= domain.j1:
            return f"the conditional test keeps the processor ({i}, {j}) from running in this launch"
        return f"no wavefront of this launch has the processor ({i}, {j})"

    def holds(self, i: int, j: int) -> int | None:
        """The index of the wavefront that has a processor, None if there is none."""
        found = np.argwhere(((self.i == i) & (self.j == j) & self.covered).any(axis=1)).ravel()
        return int(found[0]) if found.size else None


class _Ended(BaseException):
    """The session asks for no more launches."""


class Launches:
    """Those of a job on a machine of their own. `close` ends them; `execution` knows the device."""

    def __init__(self, job: LoadedJob, config: MachineConfig, watchdog: int) -> None:
        self._found: Queue[Started | Run | BaseException] = Queue(1)
        self._answers: Queue[_Ended | None] = Queue(1)
        self._count, self._waits = 0, False
        self.execution = GivenEngineExecution(job, config, engine="golden", watchdog=watchdog, make=self._make_engine)
        self._thread = Thread(target=self._run, name="ctm-debug", daemon=True)

    def next(self) -> Started | Run:
        """The next launch, or what the job left if there is none; all wavefronts of the launch before it have run.

        Raises
        ------
        MachineError
            The job failed.
        """
        if not self._thread.is_alive():
            self._thread.start()
        elif self._waits:
            self._answers.put(None)
        found = self._found.get()
        self._waits = isinstance(found, Started)
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """End the job where it is."""
        if self._thread.is_alive() and self._waits:
            self._answers.put(_Ended())
            self._thread.join()

    def hand_over(self, launch: Launch[Any], groups: list[Groups], core: "_Core") -> None:
        """Of the job's thread: give a launch, and wait until it has run."""
        found = started(self._count, core.set_of_instructions, launch, groups)
        self._count += 1
        self._found.put(found)
        answer = self._answers.get()
        if answer is not None:
            raise answer

    def _make_engine(self, config: MachineConfig, **options: Any) -> Engine:
        """Engine golden, whose core hands its launches over."""
        return GoldenEngine(config, watchdog=options["watchdog"], core=partial(_Core, self))

    def _run(self) -> None:
        found: Run | BaseException
        try:
            found = self.execution.run()
        except _Ended:
            return
        # It is raised in the other thread.
        except BaseException as error:
            found = error
        self._found.put(found)


def started(
    number: int, instruction_set: InstructionSet[Any, Any], launch: Launch[Any], groups: list[Groups]
) -> Started:
    """A launch of the groups that were added to it."""
    pairs = [each.pairs() for each in groups]
    shape = -1, launch.lanes
    i, j = (np.concatenate([pair[axis] for pair in pairs]).reshape(shape) for axis in range(2))
    covered = np.concatenate([each.covered() for each in groups]).reshape(shape)
    runs = covered.any(axis=1)
    order = np.concatenate([each.order for each in groups])
    return Started(number, instruction_set, launch, order[runs], i[runs], j[runs], covered[runs])


class _Core(ArrayCore[Any, Any]):
    """A core whose launches are handed over."""

    def __init__(
        self, launches: Launches, instruction_set: InstructionSet[Any, Any], *others: Any, **named: Any
    ) -> None:
        super().__init__(instruction_set, *others, **named)
        self._launches = launches
        self.set_of_instructions = instruction_set

    def start(self, state: State) -> Any:
        """See `ArrayCore.start`."""
        return _HandedOver(self._launches, self.launch(state), self)


class _HandedOver:
    """A program that the session runs; see `Run` of the command processor."""

    def __init__(self, launches: Launches, launch: Launch[Any], core: _Core) -> None:
        self._launches, self._launch, self._core = launches, launch, core
        self._groups: list[Groups] = []

    def add(self, groups: Groups) -> None:
        """Groups are to be run."""
        self._groups.append(groups)

    def finish(self) -> MachineError | None:
        """Have all of them run; see `Run.finish`. A session stops at a fault, and goes no further."""
        self._launches.hand_over(self._launch, self._groups, self._core)
        return None
