"""The hardware as an engine, compiled: cycle-accurate."""

from rtl.config import MachineConfig
from sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from sim.engines.verilated import Disturbance, VerilatedMachine


class RtlEngine(CycleAccurateEngine):
    """Runs command buffers on the machine compiled by Verilator."""

    name = "rtl"
    disturbance = Disturbance()
    """Of the simulated memory."""

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine; the first one of a configuration takes as long as compiling does."""
        return VerilatedMachine(config, self.memory, self.disturbance)
