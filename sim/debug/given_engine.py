"""A job on a device whose engine is made here, not by its name."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.engine import Engine
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime.device import Device

Make = Callable[..., Engine]
"""Makes an engine of a configuration and the options that `make_engine` takes."""


class _Device(Device):
    def __init__(self, make: Make, *arguments: Any, **named: Any) -> None:
        self._make = make
        super().__init__(*arguments, **named)

    def _make_engine(self, engine: str, config: MachineConfig, **options: Any) -> Engine:
        del engine
        return self._make(config, **options)


class GivenEngineExecution(Execution):
    """The job on a device with the engine that `make` makes; it goes by the name `engine`."""

    def __init__(self, job: LoadedJob, config: MachineConfig, *, engine: str, watchdog: int, make: Make) -> None:
        self.make_device = partial(_Device, make)  # type: ignore[assignment]
        super().__init__(job, engine=engine, config=config, watchdog=watchdog)
