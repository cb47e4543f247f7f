"""Clients, the ports that they share, and memory behind each port."""

from typing import Any

import numpy as np
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from ctm.rtl.mc.bus.axi import BusSignature
from ctm.rtl.mc.bus.memory_ports import MemoryPorts
from ctm.rtl.mc.bus.read_ports import ReadPorts, port_count
from ctm.rtl.mc.bus.write_ports import WritePorts
from ctm.tb.lib.streams import Sink, Source
from ctm.tb.mc.bus_model import LINE_BYTES, BusModel

LINES = 1 << 26


class SharedPorts(wiring.Component):
    """`ReadPorts` and `WritePorts` in front of `MemoryPorts`, as in the machine; `reads` and `writes` are the parts."""

    def __init__(self, clients: tuple[int, ...], ordered: tuple[bool, ...], *, split: int, data_bits: int) -> None:
        self.reads = ReadPorts(clients, split=split)
        self.writes = WritePorts(ordered, split=split, outstanding=4)
        self.ports = MemoryPorts(
            self.reads.tag, self.writes.tag, ports=port_count(split), data_bits=data_bits, reads=sum(clients), writes=4
        )
        super().__init__({"buses": Out(BusSignature(data_bits)).array(port_count(split))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules += [self.reads, self.writes, self.ports]
        for port, bus in enumerate(self.buses):
            connect(m, self.reads.port_requests[port], self.ports.reads[port])
            connect(m, self.ports.lines[port], self.reads.port_responses[port])
            connect(m, self.writes.port_writes[port], self.ports.writes[port])
            connect(m, self.ports.answers[port], self.writes.port_answers[port])
            connect(m, self.ports.buses[port], flipped(bus))
        return m


class PortsBench:
    """Sources and sinks of all clients, and a model of memory for each port."""

    def __init__(
        self,
        clients: tuple[int, ...],
        ordered: tuple[bool, ...],
        *,
        split: int,
        data_bits: int = 128,
        stalls: tuple[float, float] = (0, 0),
        seed: int = 1,
    ) -> None:
        self.generator = generator = np.random.default_rng(seed)
        self.split = split // LINE_BYTES
        self.design = SharedPorts(clients, ordered, split=split, data_bits=data_bits)
        reads, writes = self.design.reads, self.design.writes
        self.reading = [Source(client.request, generator, stalls[0]) for client in reads.clients]
        self.lines = [Sink(client.response, generator, stalls[0]) for client in reads.clients]
        self.writing = [Source(port, generator, stalls[0]) for port in writes.writes]
        self.written = [Sink(port, generator, stalls[0]) for port in writes.written]
        self.memory = [BusModel(bus, generator, stalls[1], data_bits=data_bits) for bus in self.design.buses]

    @property
    def ends(self) -> list[Any]:
        return [*self.reading, *self.lines, *self.writing, *self.written, *self.memory]

    def refuse(self, lines: set[int]) -> None:
        """Answer these lines with errors."""
        for memory in self.memory:
            memory.refused |= lines

    def any_line(self) -> int:
        """A line, as likely next to the split as anywhere."""
        near = self.split + int(self.generator.integers(-4, 4))
        return near % LINES if self.generator.random() < 0.5 else int(self.generator.integers(LINES))

    def check_ports(self) -> None:
        """Every burst went to the port of its line."""
        for number, memory in enumerate(self.memory):
            for address, _ in memory.reads + memory.writes:
                assert (address // LINE_BYTES >= self.split) == number or len(self.memory) == 1
