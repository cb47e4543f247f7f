"""Clients, the ports that they share, and a memory at each port."""

from functools import cache
from typing import Any

import numpy as np
from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from ctm.rtl.border.lines import LINE_BITS
from ctm.rtl.mc.bus.axi import BusSignature
from ctm.rtl.mc.bus.memory_ports import WAITING_REQUESTS, MemoryPorts
from ctm.rtl.mc.bus.read_ports import ReadClient, ReadPorts
from ctm.rtl.mc.bus.routing import Routing
from ctm.rtl.mc.bus.write_ports import WritePorts
from ctm.tb.lib.streams import End, Sink, Source
from ctm.tb.mc.bus_model import LINE_BYTES, BusModel
from ctm.tb.mc.line_memory import TAG

LINES = 1 << 26


class SharedPorts(wiring.Component):
    """`ReadPorts` and `WritePorts` before `MemoryPorts`, as in the machine; `reads` and `writes` are the first two."""

    def __init__(
        self,
        clients: tuple[int, ...],
        read_in_order: tuple[bool, ...],
        written_in_order: tuple[bool, ...],
        *,
        routing: Routing,
        data_bits: int,
        slice_bits: int = LINE_BITS,
        bursts: int = 4,
    ) -> None:
        readers = tuple(ReadClient(lines, ordered) for lines, ordered in zip(clients, read_in_order, strict=True))
        self.reads = ReadPorts(readers, routing=routing, slice_bits=slice_bits)
        self.writes = WritePorts(
            written_in_order, routing=routing, outstanding=bursts + WAITING_REQUESTS, slice_bits=slice_bits
        )  # fmt: skip
        self.ports = MemoryPorts(
            self.reads.tag, self.writes.tag, ports=routing.ports, data_bits=data_bits, slice_bits=slice_bits,
            reads=sum(clients), writes=bursts,
        )  # fmt: skip
        super().__init__({"buses": Out(BusSignature(data_bits)).array(routing.ports)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules += [self.reads, self.writes, self.ports]
        for port, bus in enumerate(self.buses):
            connect(m, self.reads.ports[port], self.ports.clients[port].read)
            connect(m, self.writes.ports[port], self.ports.clients[port].write)
            connect(m, self.ports.buses[port], flipped(bus))
        return m


shared_ports = cache(SharedPorts)
"""One for all benches with the same, which `simulate` begins anew."""


class TaggedReader(End):
    """A client that takes its lines in any order: `waiting` are those to request, `received` those that came.

    Both are by the number of the request; a tag is used again when its line has come.
    """

    def __init__(self, client: Any, generator: np.random.Generator, stall: float, tags: int) -> None:
        self._source, self._response = Source(client.request, generator, stall), client.response
        self._free, self._requested = list(range(tags)), 0
        self._whose: dict[int, int] = {}
        self._line = 0
        self._generator = generator
        self.waiting: list[int] = []
        self.received: dict[int, int] = {}

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        if self._free and not self._source.waiting and self._requested < len(self.waiting):
            tag = self._free.pop(int(self._generator.integers(len(self._free))))
            self._source.waiting.append(self.waiting[self._requested] | tag << TAG)
            self._whose[tag] = self._requested
            self._requested += 1
        self._source.drive(context)

    def finish(self, context: Any) -> None:
        """Take what was handed over in this cycle."""
        self._source.finish(context)
        if context.get(self._response.valid):
            payload = self._response.payload
            bits, number, error, tag = (
                context.get(Value.cast(field)) for field in (payload.bits, payload.slice, payload.error, payload.tag)
            )
            assert tag in self._whose, "a line with a tag that is not in flight"
            width = len(payload.bits)
            assert self._line >> width * number == 0, "a slice that came before"
            self._line |= bits << width * number
            if number < LINE_BITS // width - 1:
                assert not error, "an error before its last slice"
                return
            self.received[self._whose.pop(tag)] = self._line | error << LINE_BITS
            self._free.append(tag)
            self._line = 0


class PortsBench:
    """Sources and sinks of all clients, and a model of memory for each port.

    `clients` say lines in flight of each client that gets them in order, `tagged` of each that gets them in any order;
    `bursts` are in flight at each port, at most, of those that are written.
    """

    def __init__(
        self,
        clients: tuple[int, ...],
        ordered: tuple[bool, ...],
        *,
        routing: Routing,
        tagged: tuple[int, ...] = (),
        data_bits: int = 128,
        slice_bits: int = LINE_BITS,
        bursts: int = 4,
        stalls: tuple[float, float] = (0, 0),
        seed: int = 1,
    ) -> None:
        self.generator = generator = np.random.default_rng(seed)
        self.routing, self.split = routing, routing.split // LINE_BYTES
        in_order = (True,) * len(clients) + (False,) * len(tagged)
        self.design = shared_ports(
            clients + tagged, in_order, ordered, routing=routing, data_bits=data_bits, slice_bits=slice_bits,
            bursts=bursts,
        )  # fmt: skip
        reads, writes = self.design.reads, self.design.writes
        own, others = reads.clients[: len(clients)], reads.clients[len(clients) :]
        self.reading = [Source(client.request, generator, stalls[0]) for client in own]
        self.lines = [Sink(client.response, generator, stalls[0]) for client in own]
        self.tagged = [
            TaggedReader(client, generator, stalls[0], tags) for client, tags in zip(others, tagged, strict=True)
        ]
        self.writing = [Source(port, generator, stalls[0]) for port in writes.writes]
        self.written = [Sink(port, generator, stalls[0]) for port in writes.written]
        self.memory = [BusModel(bus, generator, stalls[1], data_bits=data_bits) for bus in self.design.buses]

    @property
    def ends(self) -> list[Any]:
        return [*self.reading, *self.lines, *self.tagged, *self.writing, *self.written, *self.memory]

    def respond_with_errors(self, lines: set[int]) -> None:
        """Give error responses for these lines."""
        for memory in self.memory:
            memory.error_lines |= lines

    def any_line(self) -> int:
        """A line, as likely next to the split as anywhere."""
        near = self.split + int(self.generator.integers(-4, 4))
        return near % LINES if self.generator.random() < 0.5 else int(self.generator.integers(LINES))

    def check_ports(self) -> None:
        """Every burst went to the port of its line."""
        for number, memory in enumerate(self.memory):
            for address, _ in memory.reads + memory.writes:
                line, local = address // LINE_BYTES, self.routing.local
                assert number == (local if line >= self.split else (line ^ line >> 2 & 2) % local)
