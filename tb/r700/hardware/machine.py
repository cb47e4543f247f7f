"""R700 programs on the compiled machine, word for word beside the golden model."""

from dataclasses import replace
from functools import cache

import numpy as np

from ctm.rtl.config import R700, MachineConfig
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.rtl import RtlEngine
from ctm.tb.r700.machine import Job, Run, run_golden, run_on

MOST_CYCLES = 2_000_000


class HardwareEngine(RtlEngine):
    """Engine `rtl` whose clocks are bounded for each buffer."""

    def __init__(self, config: MachineConfig = R700, disturbance: Disturbance | None = None) -> None:
        if disturbance is not None:
            self.disturbance = disturbance
        super().__init__(config, max_cycles=0)

    def execute(self, address: int, dwords: int) -> None:
        """Execute a buffer, in `MOST_CYCLES` at most."""
        self._max_cycles = self._taken() + MOST_CYCLES
        super().execute(address, dwords)

    def begin(self, watchdog: int) -> None:
        """Forget all that caches and registers hold: tests write memory without a word to the machine."""
        self._watchdog = watchdog
        self.reset()


@cache
def engine(latency: int = R700.memory.latency, stall: float = 0.0) -> HardwareEngine:
    """One for all runs of a kind: a new one takes long. All share one compiled model."""
    config = replace(R700, memory=replace(R700.memory, latency=latency))
    return HardwareEngine(config, Disturbance(jitter=20 if stall else 0, stall=stall, seed=1))


def compare(job: Job, on: HardwareEngine | None = None) -> Run:
    """Run a job on the golden model and in hardware; what both leave.

    Of several wavefronts that fault the hardware reports another one.
    """
    on = on or engine()
    expected = run_golden(job.on(R700.array.group))
    on.begin(job.watchdog)
    found = run_on(job, on)
    if expected.fault is not None or found.fault is not None:
        assert found.fault is not None and expected.fault is not None, (found.error, expected.error)
        assert found.fault[:3] == expected.fault[:3], (found.error, expected.error)
        return found
    assert found.instructions == expected.instructions
    for name in ("outputs", "conditional", "memory", "scratch"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    return found
