"""The hardware as an engine, compiled: cycle-accurate."""

from rtl.config import MachineConfig
from sim.engines.compiled import CompiledMachine, Disturbance
from sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from sim.engines.engine import Notice
from sim.engines.verilated import library


class RtlEngine(CycleAccurateEngine):
    """Runs command buffers on the machine compiled by Verilator."""

    name = "rtl"
    disturbance = Disturbance()
    """Of the simulated memory."""

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Compile the machine; see `Engine.prepare`."""
        library(config, tell)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine; see `prepare`."""
        return CompiledMachine(library(config), config, self.memory, self.disturbance)
