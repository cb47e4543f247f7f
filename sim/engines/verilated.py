"""The machine compiled by Verilator."""

from pathlib import Path

from rtl.config import MachineConfig
from sim.compiled.toolchain import build
from sim.engines.compiled import TOP, hardware, host, key
from sim.engines.engine import Notice


def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
    """The compiled model of a configuration, whatever its simulated memory; `tell` is called if it must be made.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    """
    config = hardware(config)

    def verilog() -> str:
        tell()
        # Imported here, because a start with a model that is in the cache should not wait for them.
        from sim.compiled.machine import sampled_verilog

        return sampled_verilog(config, top=TOP)

    wrapper = f'#include "V{TOP}.h"\n{host(config.memory, "verilated_model.h")}'
    return build(verilog, wrapper, top=TOP, key=key(config))
