"""The hardware as an engine, compiled by CXXRTL: cycle-accurate, and a check of what Verilator makes of it."""

from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.cxxrtl import build
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import TOP, CompiledEngine, hardware, host, key, signals


class CxxrtlEngine(CompiledEngine):
    """Runs command buffers on the machine compiled by CXXRTL."""

    name = "cxxrtl"

    @staticmethod
    def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
        """See `CompiledEngine.library`."""
        config = hardware(config)

        def design() -> str:
            tell()
            # Imported here, because a start with a model that is in the cache should not wait for them.
            from ctm.sim.compiled.machine import machine_rtlil

            return machine_rtlil(config, top=TOP)

        ports = " ".join(f"USE({name}, p_{name.replace('_', '__')})" for name in ("rst", *signals(config.memory)))
        wrapper = f"#define PORTS(USE) {ports}\n{host(config.memory, 'cxxrtl_model.h')}"
        return build(design, wrapper, top=TOP, key=key(config))
