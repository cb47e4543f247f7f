"""Sources and sinks of streams, and the simulation of a component with its testbenches."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from amaranth import Value
from amaranth.sim import Simulator

Testbench = Callable[[Any], Awaitable[None]]
STALLS = (0.0, 0.3, 0.8)


class End(ABC):
    """What is at an end of streams: it is driven and looked at in each cycle."""

    @abstractmethod
    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""

    @abstractmethod
    def finish(self, context: Any) -> None:
        """Look at the ports at the end of the cycle."""


class Source(End):
    """Offers payloads, as integers, one after the other; each is held until it is taken."""

    def __init__(self, port: Any, generator: np.random.Generator, stall: float) -> None:
        self._port, self._generator, self._stall = port, generator, stall
        self.waiting: list[int] = []
        self.taken: list[int] = []
        self.offered = False

    def drive(self, context: Any) -> None:
        """Set the port for this cycle."""
        if not self.offered and self.waiting and self._generator.random() >= self._stall:
            self.offered = True
        context.set(self._port.valid, self.offered)
        context.set(Value.cast(self._port.payload), self.waiting[0] if self.offered else 0)

    def finish(self, context: Any) -> None:
        """Note at the end of the cycle whether the payload was taken."""
        if self.offered and context.get(self._port.ready):
            self.taken.append(self.waiting.pop(0))
            self.offered = False


@dataclass
class Sink(End):
    """Takes payloads, as integers; a payload that waits must stay as it is."""

    port: Any
    generator: np.random.Generator
    stall: float
    received: list[int] = field(default_factory=list)
    _ready: bool = False
    _waits: int | None = None

    def drive(self, context: Any) -> None:
        """Set the port for this cycle."""
        self._ready = bool(self.generator.random() >= self.stall)
        context.set(self.port.ready, self._ready)

    def finish(self, context: Any) -> None:
        """Look at the port at the end of the cycle."""
        payload = context.get(Value.cast(self.port.payload)) if context.get(self.port.valid) else None
        assert self._waits is None or payload == self._waits, "a payload changed or went away while it waited"
        if payload is not None and self._ready:
            self.received.append(payload)
        self._waits = None if self._ready else payload


async def cycle(context: Any, ends: Sequence[End]) -> None:
    """One clock cycle of streams."""
    for end in ends:
        end.drive(context)
    for end in ends:
        end.finish(context)
    await context.tick()


class _Simulation:
    """A component's simulator. To make it takes longer than most testbenches run."""

    def __init__(self, component: Any) -> None:
        self._testbench: Testbench | None = None
        self._simulator = Simulator(component)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._begin)

    async def _begin(self, context: Any) -> None:
        assert self._testbench is not None
        await self._testbench(context)

    def run(self, testbench: Testbench) -> None:
        if self._testbench is not None:
            self._simulator.reset()
        self._testbench = testbench
        self._simulator.run()


def simulate(component: Any, testbench: Testbench) -> None:
    """Run a testbench until it ends, one clock cycle for each of its ticks; the component begins as it is after reset.

    It keeps its simulator, so that several testbenches of one component take less time.
    """
    # After a testbench that failed, another may wait that would wake the next one.
    simulation = vars(component).pop("_simulation", None) or _Simulation(component)
    simulation.run(testbench)
    vars(component)["_simulation"] = simulation
