"""Runs a job on the hardware again for each wavefront that is looked at: it does the same in the same cycles."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.border.shading import Stage
from ctm.rtl.config import MachineConfig
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Calls, Work, execution_of
from ctm.sim.debug.hardware import r5xx, r700
from ctm.sim.debug.hardware.moment import Recording
from ctm.sim.debug.hardware.signals import Signals, signals_in
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.launches import Started
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.tracing.engine import Complete, TracedEngine, Wanted, library
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.jobs.drawing import hardware_problem

_MOST_RECORDINGS = 16
_STAGES = {"VS": Stage.VERTICES, "ES": Stage.VERTICES, "GS": Stage.GEOMETRY, "DC": Stage.COPY, "PS": Stage.PIXELS}


class Hardware:
    """A job on the hardware; the model of the machine is compiled when the first wavefront is looked at.

    DebugError: the machine does not draw what the job draws.
    """

    def __init__(self, job: Work, config: MachineConfig, watchdog: int) -> None:
        problem = "" if isinstance(job, Calls) else hardware_problem(job, config)
        if problem:
            raise DebugError(problem)
        self._job, self._config, self._watchdog = job, config, watchdog
        self.cancellation = Cancellation()
        """Ends a run, too; the session's replaces it."""
        self._recordings: dict[Wanted, Recording] = {}
        self._looked: Signals | None = None

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Compile the model of the machine, and keep it; errors as `Engine.prepare`."""
        library(config, tell=tell)

    def wavefront(self, earlier: list[Started], started: Started, index: int, model: Wavefront) -> HardwareWavefront:
        """A wavefront of a launch, after the `earlier` ones, at its start; `model` is the same on the golden model."""
        i, j = int(_first_lanes(started)[index]), int(started.j[index, 0])
        stage = _stage(started)
        before = sum(_count(each, i, j, len(each.order)) for each in earlier if _stage(each) is stage)
        wanted = Wanted(i, j, before + _count(started, i, j, index), stage)
        return HardwareWavefront(model, lambda start: self._recording(wanted, started, start), self._signals)

    def _signals(self, cycle: int) -> Signals:
        if self._looked is None or self._looked.cycle != cycle:
            self._looked = signals_in(self._job, self._config, self._watchdog, cycle, self.cancellation)
        return self._looked

    def _recording(self, wanted: Wanted, started: Started, start: Batch[Any]) -> Recording:
        if wanted not in self._recordings:
            if len(self._recordings) == _MOST_RECORDINGS:
                self._recordings.pop(next(iter(self._recordings)))
            self._recordings[wanted] = self._record(wanted, started, start)
        return self._recordings[wanted]

    def _record(self, wanted: Wanted, started: Started, start: Batch[Any]) -> Recording:
        engines: list[TracedEngine] = []

        def make(config: MachineConfig, **options: Any) -> TracedEngine:
            options = {name: options[name] for name in ("watchdog", "max_cycles")}
            engines.append(TracedEngine(config, wanted=wanted, progress=self._check, **options))
            return engines[0]

        execution = execution_of(self._job, self._config, engine="rtl", watchdog=self._watchdog, make=make)
        # A job that fails has shown what led to it.
        error: MachineError | None = None
        try:
            execution.run()
        except Complete:
            pass
        except MachineError as failed:
            error = failed
        events = engines[0].traced.events()
        # Cycles are those of waves: the first command buffer is pushed in cycle 0.
        for fields in events.values():
            fields["cycle"] = fields["cycle"] - np.uint64(engines[0].traced.begun)
        array, program = self._config.array, started.launch.program
        begin = "start" if array.instruction_set == "r5xx" else "take"
        if not len(events[begin]["cycle"]):
            reason = f": the job fails before, {error}" if error is not None else ""
            where = f"({wanted.i}, {wanted.j})"
            raise DebugError(f"the hardware does not come to the wavefront of {where}{reason}")
        if array.instruction_set == "r5xx":
            return r5xx.recording(program, start, events)
        return r700.recording(array, program, start, events)

    def _check(self, pixels: int) -> None:
        """See `Progress`; Cancelled: another thread ends what the session does."""
        del pixels
        self.cancellation.executed(0, ())


def _stage(started: Started) -> Stage:
    stage = started.launch.stage
    return Stage.DOMAIN if stage is None else _STAGES[stage]


def _first_lanes(started: Started) -> npt.NDArray[np.signedinteger]:
    """The i of the first lane of each wavefront, as the hardware has it, [wavefronts]: threads count in their batch."""
    i, begins = started.i[:, 0], started.batches
    return i - begins[np.searchsorted(begins, i, side="right") - 1] if begins.size else i


def _count(started: Started, i: int, j: int, end: int) -> int:
    """How many of the first wavefronts of a launch, up to `end`, begin at a position.

    Strips of several shapes may, and wavefronts of several batches.
    """
    return int(((_first_lanes(started)[:end] == i) & (started.j[:end, 0] == j)).sum())
