"""Ends of Amaranth streams under cocotb."""

import random
from typing import Any

import cocotb
from cocotb.triggers import Event, RisingEdge


class Source:
    """Offers payloads, each until it is taken; before each it pauses with a probability in each cycle."""

    def __init__(self, dut: Any, name: str, *, pauses: float, seed: int) -> None:
        self._clock, self._generator, self._pauses = dut.clk, random.Random(f"{name}{seed}"), pauses
        self._valid, self._ready, self._payload = (
            getattr(dut, f"{name}__{end}") for end in ("valid", "ready", "payload")
        )
        self._valid.value = 0

    async def send(self, payloads: list[int]) -> None:
        """Offer payloads and return when the last one was taken."""
        edge = RisingEdge(self._clock)
        for payload in payloads:
            while self._generator.random() < self._pauses:
                await edge
            self._payload.value, self._valid.value = payload, 1
            await edge
            while self._ready.value != 1:
                await edge
            self._valid.value = 0


class Sink:
    """Takes payloads after the reset, pausing with a probability in each cycle; what waits must stay as it is.

    A stream without a ready is taken in each cycle.
    """

    def __init__(self, dut: Any, name: str, *, pauses: float, seed: int) -> None:
        self._name, self._clock, self._reset = name, dut.clk, dut.rst
        self._generator = random.Random(f"{name}{seed}")
        self._valid, self._payload = (getattr(dut, f"{name}__{end}") for end in ("valid", "payload"))
        self._ready = getattr(dut, f"{name}__ready", None)
        self._pauses = pauses if self._ready is not None else 0.0
        self._drive(False)
        self._came = Event()
        self.received: list[int] = []
        cocotb.start_soon(self._run())

    async def take(self, count: int) -> list[int]:
        """All payloads, once there are `count`."""
        while len(self.received) < count:
            self._came.clear()
            await self._came.wait()
        return self.received

    async def _run(self) -> None:
        edge, ready, waiting = RisingEdge(self._clock), self._ready is None, None
        await edge
        while self._reset.value == 1:
            await edge
        while True:
            await edge
            offered = int(self._payload.value) if self._valid.value == 1 else None
            assert waiting is None or offered == waiting, f"{self._name}: a payload changed or went away"
            if offered is not None and ready:
                self.received.append(offered)
                self._came.set()
            waiting = None if ready else offered
            ready = self._generator.random() >= self._pauses
            self._drive(ready)

    def _drive(self, ready: bool) -> None:
        if self._ready is not None:
            self._ready.value = int(ready)
