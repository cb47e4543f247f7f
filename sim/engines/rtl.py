"""The hardware as an engine, compiled by Verilator: cycle-accurate."""

from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.tools.toolchain import Models, build
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import TOP, CompiledEngine, hardware, host, key

_supplied: dict[MachineConfig, Path] = {}


def supply(config: MachineConfig, library: Path) -> None:
    """Let engines of this process take a compiled model from elsewhere for the hardware of a configuration."""
    _supplied[hardware(config)] = library


class RtlEngine(CompiledEngine):
    """Runs command buffers on the machine compiled by Verilator."""

    name = "rtl"

    @staticmethod
    def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
        """See `CompiledEngine.library`."""
        config = hardware(config)
        if config in _supplied:
            return _supplied[config]

        def models() -> Models:
            tell()
            # Imported here, because a start with a model that is in the cache should not wait for them.
            from ctm.sim.compiled.machine import simulated

            return simulated(config, top=TOP)

        one, several = ("verilated_model.h",), ("verilated_core.h", "verilated_cores.h")
        parts = one if config.array.cores == 1 else several
        wrapper = host(config.memory, "unwatched.h", "verilated.h", *parts)
        return build(models, f'#include "models.h"\n{wrapper}', key=key(config))
