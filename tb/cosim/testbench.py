"""A machine with everything around it: clock, host, memory, protocol checks, and the golden model beside it."""

import itertools
import logging
import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from rtl.config import MachineConfig
from rtl.isa.host import COUNTERS, COUNTERS_OFFSET, REGISTERS
from rtl.isa.status import BusClient, Status
from rtl.isa.word import pack, unpack
from sim.fault import MachineError
from tb.cosim.checker import Checker, ControlPort
from tb.cosim.checker import MemoryPort as CheckedPort
from tb.cosim.configuration import SMALL
from tb.cosim.memory import BusMemory, MemoryPort

PERIOD = 10
"""Nanoseconds of a clock cycle."""
CONTROL = "s_axi_control"
OFFSETS = {register.name: register.offset for register in REGISTERS}
OFFSETS |= {name: COUNTERS_OFFSET + 4 * place for place, name in enumerate(COUNTERS)}
_LAYOUTS = {register.name: register.layout for register in REGISTERS}
_FAULTS = (Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG)
_LIMIT = 60_000
"""Cycles that a command buffer may take."""


def paused(probability: float, seed: int) -> Iterator[bool]:
    """In which cycles a channel pauses."""
    generator = random.Random(seed)
    return (generator.random() < probability for _ in itertools.count())


class TB:
    """A machine behind its reset. `start` comes first, `finish` last."""

    def __init__(self, dut: Any, config: MachineConfig = SMALL, *, pauses: float = 0.0, seed: int = 0) -> None:
        logging.getLogger(f"cocotb.{dut._name}").setLevel("ERROR")
        self.dut, self.config = dut, config
        self.memory = BusMemory()
        prefixes = [f"m_axi_{name}" for name in config.memory.ports]
        self._pauses, self._seed = pauses, seed
        self._clock = Clock(dut.clk, PERIOD, unit="ns")
        dut.rst.value = 1
        self._host = AxiLiteMaster(AxiLiteBus.from_prefix(dut, CONTROL), dut.clk, dut.rst)
        self._ports = [MemoryPort(self.memory, dut, prefix) for prefix in prefixes]
        self.checked = [CheckedPort(dut, prefix) for prefix in prefixes]
        self.checker = Checker(dut, [ControlPort(dut, CONTROL), *self.checked])

    async def start(self) -> None:
        """Clock the machine and reset it."""
        self._clock.start()
        await ClockCycles(self.dut.clk, 3)
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)
        cocotb.start_soon(self.checker.run())
        if self._pauses:
            for number, channel in enumerate(self._channels()):
                channel.set_pause_generator(paused(self._pauses, self._seed + number))

    async def finish(self) -> None:
        """See that nothing is under way.

        Raises
        ------
        AssertionError
            A transaction was not finished.
        """
        await ClockCycles(self.dut.clk, 200 if self._pauses else 20)
        assert self.checker.outstanding == 0, f"{self.checker.outstanding} transactions were not finished"

    def stop_reads(self, stopped: bool) -> None:
        """Let memory take no reads, or go on."""
        for port in self._ports:
            port.read_addresses.pause = stopped

    async def settle(self, polls: int = 5000) -> dict[str, int]:
        """STATUS once the machine is idle."""
        for _ in range(polls):
            status = await self.fields("STATUS")
            if status["idle"]:
                return status
        raise AssertionError("the machine does not come to rest")

    def _channels(self) -> list[Any]:
        write, read = self._host.write_if, self._host.read_if
        own = [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]
        return own + [channel for port in self._ports for channel in port.channels]

    async def write(self, name: str, value: int) -> None:
        """Write a register."""
        await self._host.write_dword(OFFSETS[name], value)

    async def write_bytes(self, offset: int, data: bytes) -> None:
        """Write some bytes of a register."""
        await self._host.write(offset, data)

    async def read_bytes(self, offset: int, size: int) -> bytes:
        """Read bytes of the register space."""
        return (await self._host.read(offset, size)).data

    async def write_fields(self, name: str, **fields: int) -> None:
        """Write a register's fields, the others 0."""
        await self.write(name, pack(_LAYOUTS[name], **fields))

    async def read(self, name: str) -> int:
        """Read a register."""
        return await self._host.read_dword(OFFSETS[name])

    async def fields(self, name: str) -> dict[str, int]:
        """Read a register's fields."""
        return unpack(_LAYOUTS[name], await self.read(name))

    async def push(self, address: int, dwords: int) -> None:
        """Submit a command buffer."""
        await self.write("QUEUE_ADDRESS", address)
        await self.write("QUEUE_DWORDS", dwords)
        await self.write("QUEUE_PUSH", 0)

    async def prepare(self, watchdog: int = 0) -> None:
        """What a driver does behind a reset."""
        await self.write("WATCHDOG", watchdog)
        await self.write_fields("INTERRUPT", consumed=1, error=1)
        await self.write_fields("CONTROL", clear_error=1, interrupt_enable=1)

    async def execute(self, address: int, dwords: int, limit: int = _LIMIT) -> MachineError | None:
        """Run a command buffer to its end; the error that dropped it."""
        await self.push(address, dwords)
        if self.dut.irq.value != 1:
            try:
                await with_timeout(RisingEdge(self.dut.irq), limit * PERIOD, "ns")
            except SimTimeoutError:
                raise AssertionError(f"no interrupt after {limit} cycles") from None
        last = await self.read("LAST_SUBMITTED")
        while await self.read("LAST_CONSUMED") != last:
            pass
        await self.write_fields("INTERRUPT", consumed=1, error=1)
        return await self.error()

    async def error(self) -> MachineError | None:
        """The error that STATUS shows, which is cleared."""
        status = await self.fields("STATUS")
        if not status["error"]:
            return None
        code = Status(status["code"])
        place = await self.fields("FAULT_IJ")
        is_fault = code in _FAULTS
        client = BusClient((await self.fields("ERROR_CLIENT"))["client"]) if code is Status.BUS_ERROR else None
        found = MachineError(
            status=code,
            address=await self.read("ERROR_ADDRESS"),
            word=await self.read("ERROR_WORD"),
            client=client,
            pc=await self.read("FAULT_PC") if is_fault else None,
            i=place["i"] if is_fault else None,
            j=place["j"] if is_fault else None,
        )
        await self.write_fields("CONTROL", clear_error=1, interrupt_enable=1)
        return found
