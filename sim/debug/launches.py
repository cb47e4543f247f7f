"""The launches of a job, one after the other, each on the session's request.

The job runs in a thread of its own up to a launch, which it hands over; when all wavefronts of the launch have run, it
continues. One of the two threads runs at any time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.draws import Drawing, DrawnStages
from ctm.sim.debug.given_engine import Work, execution_of
from ctm.sim.engines.engine import Engine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayCore, ArrayRun, InstructionSet
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.state import Start as DrawStart
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.processor import BATCH_LANES
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.jobs.execution import Run

MakeStages = Callable[[Drawing, Any, State, DrawState, DrawStart], Stages]
"""Makes the stages of a draw on a core that has begun it."""
Wavefronts = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.bool_]]
"""Indices [wavefronts]; i, j and coverage of lanes, [wavefronts, lanes] each."""


@dataclass(frozen=True, eq=False)
class Started:
    """A launch whose wavefronts are still to run, in the order of the domain walk.

    `order` [wavefronts] counts those of the whole domain; `i`, `j` and `covered` [wavefronts, lanes]. Only wavefronts
    with a covered pixel are here. `drawing` is the draw whose program it is, of which i numbers the vertices or
    primitives, or (i, j) are the target's pixels.
    """

    number: int
    instruction_set: InstructionSet[Any, Any]
    launch: Launch[Any]
    order: npt.NDArray[np.signedinteger]
    i: npt.NDArray[np.signedinteger]
    j: npt.NDArray[np.signedinteger]
    covered: npt.NDArray[np.bool_]
    drawing: Drawing | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        text = f"launch {self.number}"
        return text if self.drawing is None else f"{text} ({self.launch.stage} of draw {self.drawing.number})"

    @property
    def batches(self) -> npt.NDArray[np.signedinteger]:
        """The threads with which batches of the hardware begin, ascending; none on the golden model or of pixels."""
        found = {} if self.drawing is None else self.drawing.batches
        return found.get(str(self.launch.stage), np.zeros(0, np.int64))

    def thread(self, order: int, i: int, j: int) -> str:
        """What a lane of the wavefront with this `order` works on."""
        return f"({i}, {j})" if self.drawing is None else self.drawing.name(self.launch, order, i, j)

    def index(self, order: int) -> int:
        """The position among the launch's wavefronts of the one with this `order` in the domain walk."""
        return int(np.searchsorted(self.order, order))

    @property
    def together(self) -> int:
        """Wavefronts that run together."""
        return max(1, BATCH_LANES // self.launch.lanes)

    def execute(self, run: ArrayRun[Any, Any], first: int, end: int) -> None:
        """Run wavefronts from `first` to before `end` to their ends."""
        for begin in range(first, end, self.together):
            chunk = slice(begin, min(begin + self.together, end))
            run.execute(self.order[chunk], self.i[chunk].ravel(), self.j[chunk].ravel(), self.covered[chunk].ravel())

    def without(self, i: int, j: int) -> str:
        """Why no wavefront has the pixel (i, j)."""
        if self.drawing is not None:
            if isinstance(self.launch, PixelLaunch):
                return f"no strip of {self.name} covers the pixel ({i}, {j})"
            return f"{self.name} has the threads (0, 0) to ({self.i[self.covered].max()}, 0), not ({i}, {j})"
        domain = self.launch.domain
        if domain.i0 <= i <= domain.i1 and domain.j0 <= j <= domain.j1:
            return f"the conditional test keeps the pixel ({i}, {j}) from running in this launch"
        return f"no wavefront of this launch has the pixel ({i}, {j})"

    def holds(self, i: int, j: int) -> int | None:
        """The index of the wavefront that has the pixel (i, j), None if there is none."""
        found = np.argwhere(((self.i == i) & (self.j == j) & self.covered).any(axis=1)).ravel()
        return int(found[0]) if found.size else None


class _Ended(BaseException):
    """The session requests no more launches."""


class Launches:
    """Those of a job on a machine of their own. `close` ends them; `execution` knows the device.

    `stages` makes those of its draws.
    """

    def __init__(self, job: Work, config: MachineConfig, watchdog: int, stages: MakeStages = DrawnStages) -> None:
        self.stages = stages
        self._found: Queue[Started | Run | BaseException] = Queue(1)
        self._results: Queue[_Ended | None] = Queue(1)
        self._count, self._waits = 0, False
        self._failed: BaseException | None = None
        self.execution = execution_of(job, config, engine="golden", watchdog=watchdog, make=self._make_engine)
        self._thread = Thread(target=self._run, name="ctm-debug", daemon=True)

    def next(self) -> Started | Run:
        """The next launch, or what the job left if there is none, after which it is not called again.

        All wavefronts of the launch before it have run.

        Raises
        ------
        MachineError
            The job failed. Each later call raises the same error.
        """
        if self._failed is not None:
            raise self._failed
        if not self._thread.is_alive():
            self._thread.start()
        elif self._waits:
            self._results.put(None)
        found = self._found.get()
        self._waits = isinstance(found, Started)
        if isinstance(found, BaseException):
            self._failed = found
            raise found
        return found

    def close(self) -> None:
        """End the job where it is."""
        if self._thread.is_alive() and self._waits:
            self._results.put(_Ended())
            self._thread.join()

    def hand_over(
        self, launch: Launch[Any], wavefronts: Wavefronts, core: "_Core", drawing: Drawing | None = None
    ) -> None:
        """Of the job's thread: give a launch, and wait until it has run."""
        found = started(self._count, core.set_of_instructions, launch, wavefronts, drawing)
        self._count += 1
        if drawing is not None:
            drawing.programs[str(launch.stage)] = found
        self._found.put(found)
        result = self._results.get()
        if result is not None:
            raise result

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
    number: int, instruction_set: InstructionSet[Any, Any], launch: Launch[Any], wavefronts: Wavefronts,
    drawing: Drawing | None = None,
) -> Started:  # fmt: skip
    """A launch of wavefronts, of which those without a covered lane do not run."""
    order, i, j, covered = wavefronts
    runs = covered.any(axis=1)
    return Started(number, instruction_set, launch, order[runs], i[runs], j[runs], covered[runs], drawing)


def joined(wavefronts: list[DomainWavefronts], lanes: int) -> Wavefronts:
    """The wavefronts of groups that were added to a run."""
    pairs = [each.pairs() for each in wavefronts]
    shape = -1, lanes
    i, j = (np.concatenate([pair[axis] for pair in pairs]).reshape(shape) for axis in range(2))
    covered = np.concatenate([each.covered() for each in wavefronts]).reshape(shape)
    return np.concatenate([each.order for each in wavefronts]), i, j, covered


class _Core(ArrayCore[Any, Any]):
    """A core whose launches are handed over, those of a draw's programs too."""

    def __init__(
        self, launches: Launches, instruction_set: InstructionSet[Any, Any], *others: Any, **named: Any
    ) -> None:
        super().__init__(instruction_set, *others, **named)
        self._launches = launches
        self._drawing: Drawing | None = None
        self._draws = 0
        self.set_of_instructions = instruction_set

    def stages(self, state: State, draws: DrawState, start: DrawStart) -> Stages:
        """See `ArrayCore.stages`."""
        self._drawing = Drawing(self._draws)
        self._draws += 1
        return self._launches.stages(self._drawing, self, state, draws, start)

    def run(self, launch: Launch[Any], *observers: Any) -> Any:
        """See `ArrayCore.run`: of a draw's program."""
        del observers
        assert self._drawing is not None
        return _StageHandedOver(self._launches, launch, self, self._drawing)

    def start(self, state: State) -> Any:
        """See `ArrayCore.start`."""
        return _HandedOver(self._launches, self.launch(state), self)


class _HandedOver:
    """A program that the session runs; see `Run` of the command processor."""

    def __init__(self, launches: Launches, launch: Launch[Any], core: _Core) -> None:
        self._launches, self._launch, self._core = launches, launch, core
        self._wavefronts: list[DomainWavefronts] = []

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Wavefronts are to be run."""
        self._wavefronts.append(wavefronts)

    def finish(self) -> MachineError | None:
        """Have all of them run; see `Run.finish`. A session stops at a fault, and goes no further."""
        self._launches.hand_over(self._launch, joined(self._wavefronts, self._launch.lanes), self._core)
        return None


class _StageHandedOver:
    """A program of a draw that the session runs; see `ArrayRun`. A session stops at a fault, and goes no further."""

    fault = None

    def __init__(self, launches: Launches, launch: Launch[Any], core: _Core, drawing: Drawing) -> None:
        self._launches, self._launch, self._core, self._drawing = launches, launch, core, drawing
        self._wavefronts: list[tuple[npt.NDArray[Any], ...]] = []

    def execute(self, *wavefronts: npt.NDArray[Any]) -> None:
        """Wavefronts are to be run; see `ArrayRun.execute`."""
        self._wavefronts.append(wavefronts)

    def finish(self) -> None:
        """Have all of them run; the launch of a program without threads is none."""
        if not self._wavefronts:
            return
        order, i, j, covered = (np.concatenate(each) for each in zip(*self._wavefronts, strict=True))
        shape = -1, self._launch.lanes
        arrays = order, i.reshape(shape), j.reshape(shape), covered.reshape(shape)
        self._launches.hand_over(self._launch, arrays, self._core, self._drawing)
