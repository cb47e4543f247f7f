"""The surroundings of every simulated design: clock, reset, memory at its ports, protocol checks."""

import itertools
import logging
import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from ctm.rtl.config import MachineConfig
from ctm.tb.cosim.checker import Checker
from ctm.tb.cosim.checker import MemoryPort as CheckedPort
from ctm.tb.cosim.memory import BusMemory, MemoryPort

PERIOD = 10
"""Nanoseconds of a clock cycle."""
LIMIT = 100_000 * PERIOD
"""Nanoseconds that a test may take."""
_RESET_CYCLES = 3


def paused(probability: float, seed: int) -> Iterator[bool]:
    """In which cycles a channel pauses."""
    generator = random.Random(seed)
    return (generator.random() < probability for _ in itertools.count())


class Clocked:
    """A design with a clock and a reset. `start` comes first."""

    def __init__(self, dut: Any) -> None:
        logging.getLogger(f"cocotb.{dut._name}").setLevel("ERROR")
        self.dut = dut
        self._clock = Clock(dut.clk, PERIOD, unit="ns")
        dut.rst.value = 1

    async def start(self) -> None:
        """Clock the design and reset it."""
        self._clock.start()
        await ClockCycles(self.dut.clk, _RESET_CYCLES)
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)


class Bench(Clocked):
    """A design with AXI4 ports, whose channels all stall with a probability. `start` comes first, `finish` last."""

    def __init__(self, dut: Any, config: MachineConfig, *, pauses: float, seed: int) -> None:
        super().__init__(dut)
        self.config, self.pauses, self.seed = config, pauses, seed
        self.memory = BusMemory()
        prefixes = [f"m_axi_{name}" for name in config.memory.ports]
        self._ports = [MemoryPort(self.memory, dut, prefix) for prefix in prefixes]
        self.checked = [CheckedPort(dut, prefix) for prefix in prefixes]
        self.checker = Checker(dut, list(self.checked))

    async def start(self) -> None:
        """Clock the design and reset it, and watch its ports from then on."""
        await super().start()
        cocotb.start_soon(self.checker.run())
        if self.pauses:
            for number, channel in enumerate(self.channels()):
                channel.set_pause_generator(paused(self.pauses, self.seed + number))

    async def finish(self) -> None:
        """See that nothing is in flight.

        Raises
        ------
        AssertionError
            A transaction was not finished.
        """
        await ClockCycles(self.dut.clk, 200 if self.pauses else 20)
        assert self.checker.outstanding == 0, f"{self.checker.outstanding} transactions were not finished"

    def channels(self) -> list[Any]:
        """Everything that pauses."""
        return [channel for port in self._ports for channel in port.channels]

    def stop_reads(self, stopped: bool) -> None:
        """Let memory take no reads, or go on."""
        for port in self._ports:
            port.read_addresses.pause = stopped
