"""R700 programs on the hardware, word for word beside the golden model."""

from dataclasses import replace
from functools import cache

import numpy as np

from ctm.rtl.config import R700, MachineConfig, with_settings
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine
from ctm.sim.engines.interpreted import AmaranthEngine
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.rtl import RtlEngine
from ctm.tb.lib.faults import AllFaults
from ctm.tb.lib.machines import machine
from ctm.tb.r700.machine import Job, Run, run_golden, run_on

MOST_CYCLES = 2_000_000
MEMORIES = ((1, 0.0), (20, 0.3), (200, 0.0))
"""Latencies and stalls of the memory."""
Settings = tuple[tuple[str, int | str], ...]
"""What is other than in the preset."""


class _Bounded(CycleAccurateEngine):
    """An engine whose clocks are bounded for each buffer."""

    def __init__(self, config: MachineConfig = R700, disturbance: Disturbance | None = None) -> None:
        if disturbance is not None:
            self.disturbance = disturbance
        self.config = config
        self.most_cycles = MOST_CYCLES
        super().__init__(config, max_cycles=0)

    def execute(self, address: int, dwords: int) -> None:
        """Execute a buffer, in `most_cycles` at most."""
        self._max_cycles = self._taken() + self.most_cycles
        super().execute(address, dwords)

    def begin(self, watchdog: int) -> None:
        """Invalidate all caches and registers: tests write memory without the machine's commands."""
        self._watchdog = watchdog
        self.reset()


class HardwareEngine(_Bounded, RtlEngine):
    """Engine `rtl`."""


class AmaranthHardware(_Bounded, AmaranthEngine):
    """Engine `amaranth`."""


@cache
def engine(latency: int = R700.memory.latency, stall: float = 0.0, *, settings: Settings = ()) -> HardwareEngine:
    """One for all runs of a kind: a new one takes long. Whatever the memory, they share one compiled model."""
    config = with_settings(R700, dict(settings)) if settings else machine("r700")
    config = replace(config, memory=replace(config.memory, latency=latency))
    return HardwareEngine(config, Disturbance(jitter=20 if stall else 0, stall=stall, seed=1))


def compare(job: Job, on: HardwareEngine | AmaranthHardware | None = None) -> Run:
    """Run a job on the golden model and in hardware; what both leave.

    Of several wavefronts that fault the hardware may report any.
    """
    on = on or engine()
    faults = AllFaults()
    expected = run_golden(replace(job.on(on.config.array.wavefront_lanes), observers=(*job.observers, faults)))
    on.begin(job.watchdog)
    found = run_on(job, on)
    same_outcome(found, expected, faults)
    return found


def same_outcome(found: Run, expected: Run, faults: AllFaults) -> None:
    """Compare what hardware and golden model left; `faults` are those of all wavefronts of the model."""
    error = found.error
    if error is not None and error.pc is not None:
        fault = (error.status, error.client, error.pc, error.i, error.j)
        assert fault in faults.found, (error, sorted(map(str, faults.found)))
    else:
        same_results(found, expected)


def same_results(found: Run, expected: Run) -> None:
    """Compare the results of two runs, without a fault's position."""
    if expected.fault is not None or found.fault is not None:
        assert found.fault is not None and expected.fault is not None, (found.error, expected.error)
        assert found.fault[:3] == expected.fault[:3], (found.error, expected.error)
        return
    assert found.instructions == expected.instructions
    for name in ("outputs", "conditional", "memory", "scratch"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
