"""The hardware as an engine, compiled by CXXRTL: cycle-accurate, and a check of what Verilator makes of it."""

from pathlib import Path

from rtl.config import MachineConfig
from sim.compiled.cxxrtl import build
from sim.engines.compiled import TOP, CompiledMachine, Disturbance, hardware, host, key, signals
from sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from sim.engines.engine import Notice


class CxxrtlEngine(CycleAccurateEngine):
    """Runs command buffers on the machine compiled by CXXRTL."""

    name = "cxxrtl"
    disturbance = Disturbance()
    """Of the simulated memory."""

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Compile the machine; see `Engine.prepare`."""
        library(config, tell)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine; see `prepare`."""
        return CompiledMachine(library(config), config, self.memory, self.disturbance)


def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
    """The compiled model of a configuration, whatever its simulated memory; `tell` is called if it must be made.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    """
    config = hardware(config)

    def design() -> str:
        tell()
        # Imported here, because a start with a model that is in the cache should not wait for them.
        from sim.compiled.machine import machine_rtlil

        return machine_rtlil(config, top=TOP)

    ports = " ".join(f"USE({name}, p_{name.replace('_', '__')})" for name in ("rst", *signals(config.memory)))
    wrapper = f"#define PORTS(USE) {ports}\n{host(config.memory, 'cxxrtl_model.h')}"
    return build(design, wrapper, top=TOP, key=key(config))
