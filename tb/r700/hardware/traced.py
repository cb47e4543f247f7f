"""Engine `rtl` of the tests, on a machine whose cores are observed."""

from ctm.rtl.config import R700, MachineConfig
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.tracing.engine import TracedMachine, library
from ctm.tb.r700.hardware.machine import HardwareEngine


class TracedEngine(HardwareEngine):
    """Engine `rtl` on a traced machine; `made_from` as for a fault that is planted in its sources."""

    def __init__(
        self, config: MachineConfig = R700, disturbance: Disturbance | None = None, *, made_from: str = ""
    ) -> None:
        self._made_from, self.array = made_from, config.array
        super().__init__(config, disturbance)

    def make_machine(self, config: MachineConfig) -> TracedMachine:
        """See `CompiledEngine.make_machine`."""
        self.traced = TracedMachine(library(config, self._made_from), config, self.memory, self.disturbance)
        return self.traced
