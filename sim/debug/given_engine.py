"""What a session runs, on a device whose engine is made here, not by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ctm.rtl.config import MachineConfig
from ctm.sim.elf import Executable
from ctm.sim.engines.engine import Engine
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device

Make = Callable[..., Engine]
"""Makes an engine of a configuration and the options that `make_engine` takes."""


@dataclass(frozen=True, eq=False)
class Calls:
    """What `calls` run on a device that begins with the allocated memory of `before`, see `Device.debug`.

    `before` is a device of its own: nothing else changes its memory.
    """

    before: Device
    calls: CommandBuffer | Callable[[Device], object]


Work = LoadedJob | Calls
"""What a session runs, as often as it begins again."""


def lines_of(work: Work) -> dict[str, set[int]]:
    """The lines with code of each file of the programs of a job; of calls nothing is known before they run."""
    found: dict[str, set[int]] = {}
    for launch in () if isinstance(work, Calls) else work.launches:
        lines = launch.program.executable.lines
        for line in () if lines is None else set(lines.units):
            if line is not None:
                found.setdefault(line.file, set()).add(line.line)
    return found


class Running(Protocol):
    """What is run, on one device."""

    def run(self) -> Run:
        """Run it; MachineError: it fails."""

    def program(self, base: int) -> tuple[str, Executable]:
        """Name and executable of the program at an address, which has run."""


class _Device(Device):
    def __init__(self, make: Make, *arguments: Any, **named: Any) -> None:
        self._make = make
        super().__init__(*arguments, **named)

    def _make_engine(self, engine: str, config: MachineConfig, **options: Any) -> Engine:
        del engine
        return self._make(config, **options)


class _JobExecution(Execution):
    def __init__(self, job: LoadedJob, config: MachineConfig, *, engine: str, watchdog: int, make: Make) -> None:
        self.make_device = partial(_Device, make)  # type: ignore[assignment]
        super().__init__(job, engine=engine, config=config, watchdog=watchdog)

    def program(self, base: int) -> tuple[str, Executable]:
        """See `Running.program`."""
        return self.programs()[base]


class _CallsExecution:
    def __init__(self, calls: Calls, config: MachineConfig, *, engine: str, watchdog: int, make: Make) -> None:
        self._calls = calls.calls
        self._device = _Device(make, engine, config, watchdog=watchdog)
        self._device.continue_from(calls.before)

    def run(self) -> Run:
        """See `Running.run`; an exception of the function that calls goes through."""
        if isinstance(self._calls, CommandBuffer):
            self._device.run(self._calls)
        else:
            self._calls(self._device)
            self._device.wait()
        return Run(outputs={}, report=self._device.report())

    def program(self, base: int) -> tuple[str, Executable]:
        """See `Running.program`."""
        found = self._device.program_at(base)
        assert found is not None, "it runs"
        return found


def execution_of(work: Work, config: MachineConfig, *, engine: str, watchdog: int, make: Make) -> Running:
    """A job, or calls, on a device with the engine that `make` makes; it goes by the name `engine`."""
    if isinstance(work, Calls):
        return _CallsExecution(work, config, engine=engine, watchdog=watchdog, make=make)
    return _JobExecution(work, config, engine=engine, watchdog=watchdog, make=make)
