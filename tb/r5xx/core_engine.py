"""The golden machine with the compiled core as its array: runs command buffers, jobs and examples."""

from dataclasses import replace
from functools import lru_cache
from typing import TextIO

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import DEFAULT, MachineConfig
from ctm.rtl.isa.status import Status
from ctm.sim.engines.engine import Progress
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import DomainWavefronts, Integers
from ctm.sim.golden.pe.processor import CommandProcessor
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r5xx.instruction_set import R5XX
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch
from ctm.tb.r5xx.simulation.simulation import CoreRun, CoreSimulation, Timing

MOST_CYCLES = 50_000_000
_TIMING = Timing(latency=20)


@lru_cache(maxsize=8)
def simulation(config: MachineConfig) -> CoreSimulation:
    """The compiled core of a configuration."""
    return CoreSimulation(config)


class CoreEngine(GoldenEngine):
    """Runs programs on the compiled core; `runs` are those so far."""

    name = "core"

    def __init__(
        self, config: MachineConfig = DEFAULT, *, watchdog: int = 0, progress: Progress | None = None,
        hazards: bool = False, max_cycles: int | None = None, trace: TextIO | None = None, timing: Timing = _TIMING,
    ) -> None:  # fmt: skip
        self.timing = timing
        self.runs: list[CoreRun] = []
        super().__init__(
            config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace
        )
        self.config = config
        self._array_core = _Array(self, lanes=config.array.lanes, watchdog=watchdog)
        self._processor = CommandProcessor(self.memory, self._array_core, progress=progress)

    def execute(self, address: int, dwords: int) -> None:
        self._processor.run(address, dwords)

    def reset(self) -> None:
        self._array_core.invalidate_program()
        self._processor.state = State()


class _Array(ArrayCore[Program, Batch]):
    """The golden array as far as a program's launch, then the compiled core."""

    def __init__(self, engine: CoreEngine, *, lanes: int, watchdog: int) -> None:
        super().__init__(R5XX, engine.memory, lanes=lanes, watchdog=watchdog)
        self._engine = engine

    def start(self, state: State) -> "_Run":  # type: ignore[override]
        return _Run(self.launch(state), self._engine)


class _Run:
    """Collects the wavefronts, and runs them when all are there."""

    def __init__(self, launch: Launch[Program], engine: CoreEngine) -> None:
        self._launch, self._engine = launch, engine
        self._wavefronts: list[tuple[Integers, Integers, Integers, npt.NDArray[np.bool_]]] = []

    def add(self, wavefronts: DomainWavefronts) -> None:
        self._wavefronts.append((wavefronts.order, *wavefronts.pairs(), wavefronts.covered()))

    def finish(self) -> MachineError | None:
        launch, engine = self._launch, self._engine
        # The clock and the trace of the arithmetic do not depend on where memory is.
        core = simulation(replace(engine.config, memory=DEFAULT.memory))
        run = core.run(launch, self._wavefronts, timing=engine.timing, max_cycles=MOST_CYCLES)
        engine.runs.append(run)
        for first, end in run.ranges:
            launch.memory.bytes[first:end] = run.memory.bytes[first:end]
        if launch.memory.lost is None:
            launch.memory.lost = run.memory.lost
        if not run.faults:
            return None
        fault = run.faults[0]
        is_error = fault.status is Status.BUS_ERROR
        return MachineError(
            status=fault.status, client=fault.client if is_error else None, pc=fault.pc, i=fault.i, j=fault.j
        )
