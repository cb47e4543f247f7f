"""The memory controller: everything between the machine's units and the memory ports.

This file wires. docs/design/memory-controller.md has the picture.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.buffers import BUFFER, EXTENT
from ctm.rtl.border.clients import (
    ConstantClient,
    FetchClient,
    UncachedClient,
    output_layout,
)
from ctm.rtl.border.commands import BUS_FAULT, UNIT_COMMAND, ProcessorClient
from ctm.rtl.border.conditional import ConditionalAccess, ConditionalBuffer
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import CODE_LINES, LINE_BITS, LINE_OFFSET_BITS, code_client, read_bits
from ctm.rtl.border.shading import Blending, DrawBuffers
from ctm.rtl.config import MachineConfig, MemoryConfig
from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.status import BusClient
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.register_slice import RegisteredHandshake, SliceMode, connect_slice
from ctm.rtl.mc.area import area_of, memory_area
from ctm.rtl.mc.bus.memory_ports import WAITING_REQUESTS
from ctm.rtl.mc.bus.port import MemoryPort
from ctm.rtl.mc.bus.read_ports import ReadClient, ReadPorts
from ctm.rtl.mc.bus.routing import Routing
from ctm.rtl.mc.bus.write_ports import WritePorts
from ctm.rtl.mc.conditional.cache import ConditionalCache
from ctm.rtl.mc.constant_reader import ConstantReader
from ctm.rtl.mc.counter_writer import CounterWriter
from ctm.rtl.mc.inputs.caches import InputCaches
from ctm.rtl.mc.outputs.array_writes import Outputs
from ctm.rtl.mc.outputs.blender import BLEND_LINES
from ctm.rtl.mc.registers import Registers

_INSTRUCTION, _CONSTANT, _COMMAND, _CONDITIONAL, _INPUTS = range(5)
"""Clients that read. From the last one on: the banks of the inputs' shared cache, and after them, where the machine
draws, the blender."""
_UNCACHED, _CONDITIONAL_WRITE, _COUNTERS = range(-3, 0)
"""Clients that write in order. The banks of the output cache come first; they write in any order."""
_WRITTEN_IN_ORDER = (True, True, True)


def read_clients(config: MachineConfig) -> tuple[ReadClient, ...]:
    """The clients that read, by their numbers.

    Lines of those in order are rows of one reorder buffer: 16, or 24 with the blender's.
    """
    # Draws' indices come by the client of commands, in whole lines.
    command = ReadClient(6, ordered=True, sliced=not config.pipeline.draws)
    constant, conditional = ReadClient(4, ordered=True, sliced=True), ReadClient(6, ordered=True, sliced=True)
    banks = (ReadClient(config.memory.outstanding_lines),) * config.shared_cache.banks
    blender = (ReadClient(BLEND_LINES, ordered=True),) if config.pipeline.draws else ()
    return ReadClient(CODE_LINES), constant, command, conditional, *banks, *blender


def command_bits(config: MachineConfig) -> int:
    """The slices in which the command processor reads lines: whole ones where it shares them with draws' indices."""
    return LINE_BITS if config.pipeline.draws else read_bits(config.memory.slice_bits)


def written_lines(config: MemoryConfig) -> int:
    """Most write bursts in flight at each port: writes need fewer than reads."""
    return max(1, config.outstanding_lines // 2)


def routing(config: MemoryConfig) -> Routing:
    """Which memory port a line belongs to."""
    return Routing(split=config.split, local=config.local_ports)


class MemoryEvents(Interface):
    """What counters of the caches count, seen from the memory controller: bits that are set for a cycle.

    Members
    -------
    input_hit, input_miss : ``Out(cores)``
        Requests to the first level of the input cache.
    shared_hit, shared_miss : ``Out(banks)``
        Requests to its second level.
    output_line : ``Out(banks)``
        A bank of the output cache has given a line to memory.
    conditional_hit, conditional_miss : ``Out(1)``
    """

    def __init__(self, config: MachineConfig) -> None:
        cores, banks = config.array.cores, config.shared_cache.banks
        super().__init__(
            {
                "input_hit": Out(cores),
                "input_miss": Out(cores),
                "shared_hit": Out(banks),
                "shared_miss": Out(banks),
                "output_line": Out(config.output_cache.banks),
                "conditional_hit": Out(1),
                "conditional_miss": Out(1),
            }
        )


class MemoryController(wiring.Component):
    """Serves the array, the command processor and the conditional unit from memory.

    `areas` are the outputs that fetches and uncached writes may name as areas, in the order of their numbers.

    Members
    -------
    processor : ``In(ProcessorClient(command_bits(config), single=has_geometry))``
        Its commands are those of `Registers`; each takes two cycles more.
    inputs, outputs, conditional : as `Registers`
    invalidate_constants : ``Out(1)``
    fetches : ``In(FetchClient(lanes, tag, len(areas), memory=draws))`` for each core
    code : ``In(code_client(config.memory.slice_bits))``
        The array's code.
    constants : ``In(ConstantClient())``
    output : ``In(stream.Signature(output_layout(lanes, outputs)))``
    uncached : ``In(UncachedClient(lanes, wave, len(areas), memory=has_geometry))``
    conditional_client : ``In(ConditionalAccess(passenger))``
    draw_buffers : ``Out(DrawBuffers(geometry=has_geometry))``
        Where the machine draws.
    blending : ``In(Blending())``
        Likewise.
    ports : ``Out(MemoryPort(read_tag, write_tag, slice_bits))`` for each of `memory.ports`
    events : ``Out(MemoryEvents(config))``
    """

    def __init__(
        self,
        config: MachineConfig,
        *,
        areas: tuple[int, ...] = (),
        tag: ShapeLike,
        wave: ShapeLike,
        conditional_passenger: ShapeLike,
    ) -> None:
        self._config, self._areas, self._tag, self._wave = config, areas, tag, wave
        self._draws = config.pipeline.draws
        self._passenger = conditional_passenger
        self.caches = InputCaches(
            config.input_cache, config.shared_cache, cores=config.array.cores, lanes=config.array.at_once, tag=tag,
            outstanding=config.memory.outstanding_lines, areas=len(areas), memory=self._draws,
            slice_bits=config.memory.slice_bits,
        )  # fmt: skip
        """Both levels of the input cache."""
        cores, lanes, memory = config.array.cores, config.array.at_once, config.memory
        out_banks, to_ports = config.output_cache.banks, routing(memory)
        self._reads = ReadPorts(read_clients(config), routing=to_ports, slice_bits=memory.slice_bits)
        self._writes = WritePorts(
            (*(False,) * out_banks, *_WRITTEN_IN_ORDER), routing=to_ports,
            outstanding=written_lines(memory) + WAITING_REQUESTS, slice_bits=memory.slice_bits,
        )  # fmt: skip
        self.read_tag, self.write_tag = self._reads.tag, self._writes.tag
        geometry = config.pipeline.has_geometry
        drawing = {"draw_buffers": Out(DrawBuffers(geometry=geometry)), "blending": In(Blending())}
        super().__init__(
            {
                "processor": In(ProcessorClient(command_bits(config), single=geometry)),
                "inputs": Out(data.ArrayLayout(EXTENT, INPUTS)),
                "outputs": Out(data.ArrayLayout(BUFFER, config.array.outputs)),
                "conditional": Out(ConditionalBuffer()),
                "invalidate_constants": Out(1),
                "fetches": In(FetchClient(lanes, tag, len(areas), memory=self._draws)).array(cores),
                "code": In(code_client(config.memory.slice_bits)),
                "constants": In(ConstantClient()),
                "output": In(stream.Signature(output_layout(lanes, config.array.outputs))),
                "uncached": In(UncachedClient(lanes, wave, len(areas), memory=geometry)),
                "conditional_client": In(ConditionalAccess(conditional_passenger)),
                "events": Out(MemoryEvents(config)),
                "ports": Out(MemoryPort(self.read_tag, self.write_tag, memory.slice_bits)).array(len(memory.ports)),
                **(drawing if self._draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.registers = registers = Registers(
            draws=self._draws, geometry=self._config.pipeline.has_geometry, outputs=self._config.array.outputs
        )
        m.submodules.reads, m.submodules.writes = self._reads, self._writes
        m.submodules.handshake = handshake = RegisteredHandshake(UNIT_COMMAND)
        connect(m, flipped(self.processor.command), handshake.input)
        connect(m, handshake.output, registers.command)
        connect(m, registers.conditional, flipped(self.conditional))
        if self._draws:
            connect(m, registers.draw_buffers, flipped(self.draw_buffers))
        for name in ("inputs", "outputs", "invalidate_constants"):
            m.d.comb += getattr(self, name).eq(getattr(registers, name))
        for port, read, write in zip(self.ports, self._reads.ports, self._writes.ports, strict=True):
            connect(m, read, flipped(port.read))
            connect(m, write, flipped(port.write))
        areas = [area_of(m, registers.outputs[output], f"area_{output}") for output in self._areas]
        memory = [memory_area(m)] if self._draws else []
        self._connect_inputs(m, registers, [*areas, *memory])
        self._connect_code_and_constants(m, registers)
        self._connect_outputs(m, registers, [*areas, *(memory if self._config.pipeline.has_geometry else [])])
        conditional = self._connect_conditional(m, registers)
        self._connect_processor(m)
        self._connect_errors(m, conditional.lost)
        return m

    def _connect_inputs(self, m: Module, registers: Registers, areas: Sequence[Value]) -> None:
        config = self._config
        m.submodules.inputs = caches = self.caches
        for bank, lines in enumerate(caches.lines):
            connect(m, lines, self._reads.clients[_INPUTS + bank])
        for core in range(config.array.cores):
            connect(m, flipped(self.fetches[core]), caches.clients[core])
        m.d.comb += [
            caches.written.eq(registers.written),
            Value.cast(caches.areas).eq(Cat(areas)),
            caches.invalidate.eq(registers.input_cache.invalidate),
            # Registered: nothing is fetched while a command waits, so it is idle in the next cycle, too.
            registers.input_cache.idle.eq(delay(m, caches.idle, name="inputs_idle")),
            self.events.input_hit.eq(caches.hit),
            self.events.input_miss.eq(caches.miss),
            self.events.shared_hit.eq(caches.shared_hit),
            self.events.shared_miss.eq(caches.shared_miss),
        ]

    def _connect_code_and_constants(self, m: Module, registers: Registers) -> None:
        m.submodules.constants = constants = ConstantReader(read_bits(self._config.memory.slice_bits))
        # A line takes a port for several cycles, so slices of half the throughput are enough for these readers.
        code = self._reads.clients[_INSTRUCTION]
        connect_slice(m, "code_requests", flipped(self.code.request), code.request, SliceMode.LIGHT)
        connect(m, code.response, flipped(self.code.response))
        lines = self._reads.clients[_CONSTANT]
        connect(m, flipped(self.constants), constants.client)
        connect_slice(m, "constant_requests", constants.lines.request, lines.request, SliceMode.LIGHT)
        connect(m, lines.response, constants.lines.response)
        m.d.comb += constants.bases.eq(registers.constant_bases)

    def _connect_outputs(self, m: Module, registers: Registers, areas: Sequence[Value]) -> None:
        config, writes = self._config, self._writes
        banks = range(config.output_cache.banks)
        m.submodules.outputs = outputs = Outputs(
            config.array.at_once,
            self._wave,
            entries=config.output_cache.lines,
            banks=config.output_cache.banks,
            areas=self._areas,
            outputs=config.array.outputs,
            memory=config.pipeline.has_geometry,
            blends=self._draws,
            slice_bits=config.memory.slice_bits,
        )
        connect(m, flipped(self.output), outputs.output)
        connect(m, flipped(self.uncached), outputs.uncached)
        for bank in banks:
            connect(m, outputs.lines[bank], writes.writes[bank])
            m.d.comb += writes.written[bank].ready.eq(1)
        connect(m, outputs.uncached_line, writes.writes[_UNCACHED])
        connect(m, writes.written[_UNCACHED], outputs.uncached_written)
        m.d.comb += [
            outputs.outputs.eq(registers.outputs),
            outputs.output_mask.eq(registers.output_mask),
            outputs.flush.eq(delay(m, self._flush(registers, outputs), name="flushing_outputs")),
            self.processor.idle.eq(outputs.idle),
        ]
        sent = Cat(line.valid & line.ready & ~line.payload.remaining.any() for line in outputs.lines)
        m.d.sync += self.events.output_line.eq(sent)
        # Registered: the command is done a cycle after all is in memory.
        is_flushed = outputs.idle & outputs.empty & writes.idle[: len(banks)].all()
        m.d.sync += registers.output_flush.flushed.eq(registers.output_flush.flush & is_flushed)
        if self._draws:
            m.d.sync += outputs.blend_flushed.eq(outputs.blend_flush & is_flushed)
            connect(m, outputs.blend_lines, self._reads.clients[-1])
            connect(m, flipped(self.blending), outputs.blending)
        if self._areas:
            m.d.comb += Value.cast(outputs.areas).eq(Cat(areas))

    def _flush(self, registers: Registers, outputs: Outputs) -> Value:
        """Whether the output cache is to be emptied."""
        flushes = Value.cast(registers.output_flush.flush)
        return flushes | outputs.blend_flush if self._draws else flushes

    def _connect_conditional(self, m: Module, registers: Registers) -> ConditionalCache:
        cache = ConditionalCache(
            self._passenger, self._config.conditional_cache, slice_bits=self._config.memory.slice_bits
        )
        active = cache.client.access.valid | cache.invalidate | cache.flush | ~cache.idle
        m.submodules.conditional = Gated(cache, active)
        connect(m, cache.lines, self._reads.clients[_CONDITIONAL])
        connect(m, flipped(self.conditional_client), cache.client)
        connect(m, cache.line_write, self._writes.writes[_CONDITIONAL_WRITE])
        connect(m, self._writes.written[_CONDITIONAL_WRITE], cache.line_written)
        m.d.comb += [
            cache.invalidate.eq(registers.conditional_cache.invalidate),
            cache.flush.eq(delay(m, registers.conditional_flush.flush, name="flushing_conditional")),
            registers.conditional_cache.idle.eq(cache.idle),
            self.events.conditional_hit.eq(cache.hit),
            self.events.conditional_miss.eq(cache.miss),
        ]
        # Registered, as that of the outputs.
        m.d.sync += registers.conditional_flush.flushed.eq(registers.conditional_flush.flush & cache.flushed)
        return cache

    def _connect_processor(self, m: Module) -> None:
        """Connect the command processor's reads and writes."""
        m.submodules.counters = counters = CounterWriter(
            single=self._config.pipeline.has_geometry, slice_bits=self._config.memory.slice_bits
        )
        client, lines, writes = self._reads.clients[_COMMAND], self.processor.lines, self.processor.counters
        connect_slice(m, "line_requests", flipped(lines.request), client.request, SliceMode.LIGHT)
        connect(m, client.response, flipped(lines.response))
        connect_slice(m, "counter_writes", flipped(writes.write), counters.counters, SliceMode.LIGHT)
        connect(m, counters.line, self._writes.writes[_COUNTERS])
        connect(m, self._writes.written[_COUNTERS], flipped(writes.written))

    def _connect_errors(self, m: Module, conditional: data.View) -> None:
        """Record error responses: of reads the first since `watch`; of writes one, until it is taken.

        Of an output's and the conditional buffer's in one cycle the output's is recorded.
        """
        low = Const(0, LINE_OFFSET_BITS)
        reads, writes = self._reads, self._writes
        lost, read_errors = self.processor.lost, self.processor.read_errors
        watching = Signal()
        # The array's are its code, its constants, its inputs and what the blender reads.
        array_reads = Cat(reads.error[: _CONSTANT + 1], reads.error[_INPUTS:]).any()
        with m.If(watching & array_reads):
            m.d.sync += [read_errors.address.eq(Cat(low, reads.error_line)), watching.eq(0)]
        with m.If(read_errors.watch):
            m.d.sync += watching.eq(1)

        clients = (*range(self._config.output_cache.banks), _UNCACHED)
        written = Cat(writes.written[client].valid & writes.written[client].payload.error for client in clients).any()
        fault = Signal(BUS_FAULT)
        m.d.comb += [
            fault.client.eq(Mux(written, BusClient.OUTPUT, BusClient.CONDITIONAL_OUTPUT)),
            fault.address.eq(Mux(written, Cat(low, writes.written_line), conditional.fault.address)),
        ]
        with m.If(lost.taken):
            m.d.sync += lost.valid.eq(0)
        with m.If((~lost.valid | lost.taken) & (written | conditional.valid)):
            m.d.sync += [lost.valid.eq(1), lost.fault.eq(fault)]
