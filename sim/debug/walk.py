"""The walk through a job: launches, and the wavefronts of each, one by one or many together."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.draws import DrawnStages
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Work
from ctm.sim.debug.hardware.machine import Hardware
from ctm.sim.debug.hardware.stages import BatchedStages
from ctm.sim.debug.hardware.wavefront import AnyWavefront, HardwareWavefront
from ctm.sim.debug.launches import Launches, MakeStages, Started
from ctm.sim.debug.stopping.stops import Found, Scout, Stop
from ctm.sim.debug.stopping.trials import hazard_stops
from ctm.sim.debug.undo import is_apart, keep
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.elf import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.dpp.instruction_set import StoreObserver
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.jobs.execution import Run

HAS_ENDED = "the job has ended; `run` begins again, `goto` goes to any position"


class Position(NamedTuple):
    """A launch of the job, the index of a wavefront in it, and the instructions that this one has executed."""

    launch: int
    wavefront: int
    step: int


class Halt(NamedTuple):
    """A wavefront stops, at what was `found`, or fails: None."""

    found: Found | None


class Walk:
    """Stands at a wavefront of a launch; after the last one there is neither, but the `result` of the job.

    `index` is that of the wavefront among those of its launch. With `hazards` each launch runs once in front, the
    first time that the walk comes to it, and `hazard_stops` are where its hazards are. With `hardware` the wavefront is
    what that did, and the golden model walks beside it. `batches`, which it implies, are those of the hardware's draws.
    """

    def __init__(
        self, job: Work, config: MachineConfig, watchdog: int, *, hazards: bool = False,
        hardware: Hardware | None = None, batches: bool = False,
    ) -> None:  # fmt: skip
        self._job, self._config, self._watchdog, self._hazards = job, config, watchdog, hazards
        self._hardware = hardware
        is_batched = batches or hardware is not None
        self._stages: MakeStages = partial(BatchedStages, config) if is_batched else DrawnStages
        self._earlier: list[Started] = []
        self.cancellation = Cancellation()
        if hardware is not None:
            hardware.cancellation = self.cancellation
        self.hazard_stops: list[Stop] = []
        self._known_hazards: dict[int, list[Stop]] = {}
        self._launches = self._make_launches()
        self.result: Run | None = None
        self.started: Started | None = None
        self.wavefront: AnyWavefront | None = None
        self.index = 0
        self.next_launch()

    def restart(self, launch: int) -> None:
        """Begin the job again, and run it to a launch.

        Raises
        ------
        DebugError
            The job has no such launch, or fails in front of it.
        """
        self.close()
        self._launches = self._make_launches()
        self._earlier = []
        self.result, self.started = None, None
        self.next_launch()
        while self.started is not None and self.started.number < launch:
            failed = self.run(0, len(self.started.order))
            if failed is not None:
                raise DebugError(f"wavefront {failed[0]} of launch {self.started.number} fails: {failed[1]}")
            self.next_launch()
        if self.started is None and launch:
            raise DebugError(f"the job has no launch {launch}")

    def _make_launches(self) -> Launches:
        return Launches(self._job, self._config, self._watchdog, self._stages)

    def close(self) -> None:
        """End the job."""
        self._launches.close()

    def next_launch(self) -> None:
        """Go to the first wavefront of the next launch, or after the last one."""
        found = self._launches.next()
        if self.started is not None:
            self._earlier.append(self.started)
        if isinstance(found, Run):
            self.result, self.started, self.wavefront = found, None, None
        else:
            self.started = found
            if self._hazards:
                if found.number not in self._known_hazards:
                    self._known_hazards[found.number] = hazard_stops(found, self.cancellation)
                self.hazard_stops = self._known_hazards[found.number]
            self.enter(0)

    def enter(self, index: int) -> None:
        """Go to the start of a wavefront of this launch; those before it have run."""
        started = self.started
        assert started is not None
        self.index = index
        arrays = (started.i[index], started.j[index], started.covered[index])
        self.wavefront = model = Wavefront(
            started.instruction_set, started.launch, int(started.order[index]), *arrays, self.cancellation
        )
        if self._hardware is not None:
            self.wavefront = self._hardware.wavefront(self._earlier, started, index, model)

    def run(
        self, first: int, end: int, tally: Tally | None = None, stores: StoreObserver[Any] | None = None
    ) -> tuple[int, MachineError] | None:
        """Run wavefronts of this launch to their ends; the index of the first one that failed, and its error."""
        started = self.started
        assert started is not None
        run: ArrayRun[Any, Any] = ArrayRun(
            started.instruction_set, started.launch, observers=[self.cancellation], tally=tally, stores=stores
        )
        started.execute(run, first, end)
        return None if run.fault is None else (started.index(run.fault.order), run.fault.error)

    def run_to_stop(self, first: int, scouts: Callable[[], Scout]) -> Halt | None:
        """Run wavefronts of this launch from `first` on to one that stops or fails, at whose start it is then.

        Many run together, each time with a new scout; what those after that one did is undone. None if none did.
        """
        started = self.started
        assert started is not None
        count = len(started.order)
        for begin in range(first, count, started.together):
            end = min(begin + started.together, count)
            kept = keep(started.launch, started.i[begin:end].ravel(), started.j[begin:end].ravel())
            scout = scouts()
            failed = self.run(begin, end, scout, scout)
            found, index = scout.found, end
            if found is not None:
                index = started.index(found.order)
            if failed is not None and failed[0] < index:
                found, index = None, failed[0]
            if index < end:
                before = slice(begin, index)
                done = keep(started.launch, started.i[before].ravel(), started.j[before].ravel())
                kept.restore()
                if is_apart(started.launch):
                    done.restore()
                else:
                    self.run(begin, index)
                self.enter(index)
                return Halt(found)
        return None

    def program(self, base: int) -> tuple[str, Executable]:
        """Name and executable of the program at an address."""
        return self._launches.execution.program(base)

    @property
    def position(self) -> Position:
        """Where it stands; DebugError: the job has ended."""
        if self.started is None or self.wavefront is None:
            raise DebugError(HAS_ENDED)
        return Position(self.started.number, self.index, self.wavefront.step)

    def go_to(self, position: Position) -> None:
        """Go to any position, forward or back.

        Raises
        ------
        DebugError
            There is no such position; or a wavefront in front of it fails, and that is where it is then.
        """
        if min(position) < 0:
            raise DebugError(f"launches, wavefronts and steps count from 0: {tuple(position)}")
        if self.started is None or position[:2] != (self.started.number, self.index):
            is_here = self.started is not None and position.launch == self.started.number
            if is_here:
                self._check(position)
            if not is_here or position.wavefront < self.index:
                self._restart_at(position)
            else:
                self._end_wavefront(position.wavefront)
                self.index += 1
            self._run_up_to(position.wavefront)
        self._to_step(position.step)

    def go_afresh(self, position: Position) -> None:
        """Go to a position with the job begun again, whatever state it was in; errors as `go_to`."""
        with self.cancellation.ignored():
            self.restart(position.launch)
            self._run_up_to(position.wavefront)
            self._to_step(position.step)

    def _restart_at(self, position: Position) -> None:
        """Begin the job again, up to a launch; DebugError: there is no such position, and it is where it was."""
        here = None if self.started is None else self.position
        try:
            self.restart(position.launch)
            self._check(position)
        except DebugError:
            if here is not None:
                self.go_to(here)
            raise

    def _check(self, position: Position) -> None:
        assert self.started is not None
        count = len(self.started.order)
        if not 0 <= position.wavefront < count:
            raise DebugError(f"launch {position.launch} has wavefronts 0 to {count - 1:,}")

    def _run_up_to(self, wavefront: int) -> None:
        """Run the wavefronts from here to one; DebugError: one of them fails, and that is where it is then."""
        failed = self.run(self.index, wavefront)
        if failed is None:
            self.enter(wavefront)
            return
        assert self.started is not None
        index, _ = failed
        self.restart(self.started.number)
        self.run(0, index)
        self.enter(index)
        self._end_wavefront(wavefront)

    def _end_wavefront(self, wanted: int) -> None:
        """Run the wavefront to its end, before another one; DebugError: it fails."""
        assert self.wavefront is not None
        # What the hardware did with it is not needed.
        model = self.wavefront.model if isinstance(self.wavefront, HardwareWavefront) else self.wavefront
        while not model.is_over:
            model.advance()
        if model.error is not None:
            raise DebugError(f"wavefront {self.index}, in front of wavefront {wanted}, fails: {model.error}")

    def _to_step(self, step: int) -> None:
        assert self.wavefront is not None
        if step < self.wavefront.step:
            self.wavefront.back_to(step)
        while self.wavefront.step < step and not self.wavefront.is_over:
            self.wavefront.advance()
