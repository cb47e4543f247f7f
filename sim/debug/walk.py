"""The walk through a job: launches, and the wavefronts of each, one by one or many together."""

from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.launches import Launches, Started
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.elf import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.jobs.execution import Run
from ctm.sim.jobs.loading import LoadedJob

TOGETHER = 16384
"""Processors that run together."""


class Walk:
    """Stands at a wavefront of a launch; behind the last one there is neither, but the `result` of the job.

    `index` is that of the wavefront among those of its launch.
    """

    def __init__(self, job: LoadedJob, config: MachineConfig, watchdog: int) -> None:
        self._job, self._config, self._watchdog = job, config, watchdog
        self._launches = Launches(job, config, watchdog)
        self.result: Run | None = None
        self.started: Started | None = None
        self.wavefront: Wavefront | None = None
        self.index = 0
        self.next_launch()

    def restart(self, launch: int) -> None:
        """Begin the job again, and run it to a launch.

        Raises
        ------
        DebugError
            The job has no such launch.
        """
        self.close()
        self._launches = Launches(self._job, self._config, self._watchdog)
        self.result = None
        self.next_launch()
        while self.started is not None and self.started.number < launch:
            self.run(0, len(self.started.order))
            self.next_launch()
        if self.started is None and launch:
            raise DebugError(f"the job has no launch {launch}")

    def close(self) -> None:
        """End the job."""
        self._launches.close()

    def next_launch(self) -> None:
        """Go to the first wavefront of the next launch, or behind the last one."""
        found = self._launches.next()
        if isinstance(found, Run):
            self.result, self.started, self.wavefront = found, None, None
        else:
            self.started = found
            self.enter(0)

    def enter(self, index: int) -> None:
        """Go to the start of a wavefront of this launch; those before it have run."""
        started = self.started
        assert started is not None
        self.index = index
        arrays = (started.i[index], started.j[index], started.covered[index])
        self.wavefront = Wavefront(started.instruction_set, started.launch, int(started.order[index]), *arrays)

    def run(self, first: int, end: int, tally: Tally | None = None) -> tuple[int, MachineError] | None:
        """Run wavefronts of this launch to their ends; the index of the first one that failed, and its error."""
        started = self.started
        assert started is not None
        run: ArrayRun[Any, Any] = ArrayRun(started.instruction_set, started.launch, tally=tally)
        together = max(1, TOGETHER // started.launch.lanes)
        for begin in range(first, end, together):
            part = slice(begin, min(begin + together, end))
            run.execute(
                started.order[part], started.i[part].ravel(), started.j[part].ravel(), started.covered[part].ravel()
            )
        return None if run.fault is None else (started.index(run.fault.order), run.fault.error)

    def program(self, base: int) -> tuple[str, Executable]:
        """Name and executable of the program at an address."""
        return self._launches.execution.programs()[base]
