"""The memory at the machine's ports: cocotbext-axi's, with ranges that respond with errors."""

from dataclasses import dataclass, field
from typing import Any

from cocotbext.axi import AxiBus, AxiResp
from cocotbext.axi.axi_ram import AxiRamRead, AxiRamWrite
from cocotbext.axi.sparse_memory import SparseMemory

from ctm.rtl.isa.limits import ADDRESS_SPACE

_POISON = bytes.fromhex("addbba7f")


class BusError(Exception):
    """An access whose response is an error."""


@dataclass
class BusMemory:
    """4 GiB for several ports. Accesses to a range of `error_lines` get `response` and change nothing."""

    contents: SparseMemory = field(default_factory=lambda: SparseMemory(ADDRESS_SPACE))
    error_lines: list[tuple[int, int]] = field(default_factory=list)
    """Ranges [first, end)."""
    response: AxiResp = AxiResp.SLVERR

    def has_error(self, address: int, size: int) -> bool:
        """Whether an access fails."""
        return any(address < end and first < address + size for first, end in self.error_lines)


class _Write(AxiRamWrite):
    def __init__(self, memory: BusMemory, bus: AxiBus, clock: object, reset: object) -> None:
        self._memory = memory
        super().__init__(bus.write, clock, reset, mem=memory.contents)
        self._send, self.b_channel.send = self.b_channel.send, self._respond

    async def _write(self, address: int, data: bytes) -> None:
        beat = address // self.byte_lanes * self.byte_lanes
        if self._memory.has_error(beat, self.byte_lanes):
            raise BusError
        await super()._write(address, data)

    async def _respond(self, response: Any) -> None:
        if response.bresp != AxiResp.OKAY:
            response.bresp = self._memory.response
        await self._send(response)


class _Read(AxiRamRead):
    def __init__(self, memory: BusMemory, bus: AxiBus, clock: object, reset: object) -> None:
        self._memory = memory
        super().__init__(bus.read, clock, reset, mem=memory.contents)
        self._send, self.r_channel.send = self.r_channel.send, self._respond

    async def _read(self, address: int, length: int) -> bytes:
        if self._memory.has_error(address, length):
            raise BusError
        return await super()._read(address, length)

    async def _respond(self, beat: Any) -> None:
        if beat.rresp != AxiResp.OKAY:
            beat.rresp = self._memory.response
            beat.rdata = int.from_bytes(_POISON * (self.byte_lanes // len(_POISON)), "little")
        await self._send(beat)


class MemoryPort:
    """One port of a memory."""

    def __init__(self, memory: BusMemory, dut: Any, prefix: str) -> None:
        bus = AxiBus.from_prefix(dut, prefix)
        self._write, self._read = (kind(memory, bus, dut.clk, dut.rst) for kind in (_Write, _Read))
        for interface in (self._write, self._read):
            interface.log.setLevel("ERROR")
        self.read_addresses = self._read.ar_channel
        self.channels = (
            self._write.aw_channel, self._write.w_channel, self._write.b_channel,
            self._read.ar_channel, self._read.r_channel,
        )  # fmt: skip
