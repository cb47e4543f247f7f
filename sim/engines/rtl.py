"""The hardware as an engine, compiled by Verilator: cycle-accurate."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.halves import core, standard, uncore
from ctm.sim.compiled.tools.separate import build_separately
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import TOP, CompiledEngine, hardware, host, key

QUICK = "CTM_QUICK_MODELS"
"""A variable of the environment. If it is 1, a machine of one core is compiled in two models, as one of several cores
is. It is ready sooner, because machines that differ in their caches and memory share the core's, and runs slower."""
_supplied: dict[MachineConfig, Callable[[], Path]] = {}


def supply(config: MachineConfig, library: Callable[[], Path]) -> None:
    """Let engines of this process take a compiled model from elsewhere for the hardware of a configuration."""
    _supplied[hardware(config)] = library


@contextmanager
def quick_models() -> Iterator[None]:
    """Within this, machines are compiled in two models, unless the environment says otherwise."""
    was_said = QUICK in os.environ
    os.environ.setdefault(QUICK, "1")
    try:
        yield
    finally:
        if not was_said:
            del os.environ[QUICK]


class RtlEngine(CompiledEngine):
    """Runs command buffers on the machine compiled by Verilator."""

    name = "rtl"

    @staticmethod
    def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
        """See `CompiledEngine.library`."""
        config = hardware(config)
        if config in _supplied:
            return _supplied[config]()
        if config.array.cores > 1 or os.environ.get(QUICK) == "1":
            halves = uncore(config, top=TOP), core(config)
            return build_separately(
                halves, wrapper(config, *cores_source(config)), standard=standard(config), tell=tell
            )

        def model() -> Model:
            tell()
            # Imported here, because a start with a model that is in the cache should not wait for it.
            from ctm.sim.compiled.machine import simulated

            return simulated(config, top=TOP)

        return build(model, wrapper(config, "verilated_model.h"), key=key(config))


def cores_source(config: MachineConfig) -> tuple[str, str]:
    """The files that define the two models as a machine, see `host`."""
    return "verilated_core.h", "verilated_single.h" if config.array.cores == 1 else "verilated_cores.h"


def wrapper(config: MachineConfig, *model: str) -> str:
    """C++ around a compiled machine; `model` are the files that define it, see `host`."""
    return f'#include "models.h"\n{host(config.memory, "unwatched.h", "verilated.h", *model)}'
