"""The machine with its host: registers, command buffers, errors."""

from typing import Any

from cocotb.triggers import RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, REGISTERS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.isa.word import pack, unpack
from ctm.sim.fault import MachineError
from ctm.tb.cosim.bench import PERIOD, Bench
from ctm.tb.cosim.checker import ControlPort
from ctm.tb.cosim.configuration import SMALL

CONTROL = "s_axi_control"
OFFSETS = {register.name: register.offset for register in REGISTERS}
OFFSETS |= {name: COUNTERS_OFFSET + 4 * index for index, name in enumerate(COUNTERS)}
_LAYOUTS = {register.name: register.layout for register in REGISTERS}
_FAULTS = (Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG)
_LIMIT = 60_000
"""Cycles that a command buffer may take."""


class TB(Bench):
    """The machine after its reset."""

    def __init__(self, dut: Any, config: MachineConfig = SMALL, *, pauses: float = 0.0, seed: int = 0) -> None:
        super().__init__(dut, config, pauses=pauses, seed=seed)
        self._host = AxiLiteMaster(AxiLiteBus.from_prefix(dut, CONTROL), dut.clk, dut.rst)
        self.checker.ports.append(ControlPort(dut, CONTROL))

    def channels(self) -> list[Any]:
        """Everything that pauses."""
        write, read = self._host.write_if, self._host.read_if
        own = [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]
        return own + super().channels()

    async def settle(self, polls: int = 5000) -> dict[str, int]:
        """STATUS once the machine is idle."""
        for _ in range(polls):
            status = await self.fields("STATUS")
            if status["idle"]:
                return status
        raise AssertionError("the machine does not become idle")

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
        """What a driver does after a reset."""
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
        """The error of STATUS, which is cleared."""
        status = await self.fields("STATUS")
        if not status["error"]:
            return None
        code = Status(status["code"])
        index = await self.fields("FAULT_IJ")
        is_fault = code in _FAULTS
        client = BusClient((await self.fields("ERROR_CLIENT"))["client"]) if code is Status.BUS_ERROR else None
        found = MachineError(
            status=code,
            address=await self.read("ERROR_ADDRESS"),
            word=await self.read("ERROR_WORD"),
            client=client,
            pc=await self.read("FAULT_PC") if is_fault else None,
            i=index["i"] if is_fault else None,
            j=index["j"] if is_fault else None,
        )
        await self.write_fields("CONTROL", clear_error=1, interrupt_enable=1)
        return found
