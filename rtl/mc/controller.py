"""The memory controller: everything between the machine's units and the memory ports.

This file wires. docs/architecture.md has the picture.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import lookup_request_layout, lookup_response_layout, output_layout, uncached_write_layout
from ctm.rtl.border.commands import BUS_FAULT, COUNTERS_WRITE, UNIT_COMMAND
from ctm.rtl.border.conditional import conditional_port
from ctm.rtl.border.lines import LINE_OFFSET_BITS, LINE_REQUEST, LINE_RESPONSE, LINE_WRITTEN
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, INPUTS, OUTPUTS
from ctm.rtl.isa.status import BusClient
from ctm.rtl.lib.rest import Pausing
from ctm.rtl.mc.bus.read_ports import ReadPorts, port_count
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout
from ctm.rtl.mc.bus.write_ports import WritePorts
from ctm.rtl.mc.bus.writer import tagged_answer_layout, tagged_write_layout
from ctm.rtl.mc.conditional.cache import ConditionalCache
from ctm.rtl.mc.constant_reader import INSTRUCTION_REQUEST, INSTRUCTION_RESPONSE, ConstantReader, InstructionReader
from ctm.rtl.mc.counter_writer import CounterWriter
from ctm.rtl.mc.inputs.caches import InputCaches
from ctm.rtl.mc.outputs.array_writes import Outputs
from ctm.rtl.mc.registers import BANKS, Registers

_INPUT, _INSTRUCTION, _CONSTANT, _COMMAND, _CONDITIONAL = range(5)
"""Clients that read."""
_OUTPUT, _UNCACHED, _CONDITIONAL_WRITE, _COUNTERS = range(4)
"""Clients that write."""
_ORDERED = (False, True, True, True)
_SMALL_READER = 8
"""Lines that clients other than the inputs have outstanding."""
_CONSTANT_LINES = 4
WRITES = 32
"""Bursts of each port that have not been answered."""


def read_clients(outstanding: int) -> tuple[int, ...]:
    """Lines that each client may have outstanding."""
    return outstanding, _SMALL_READER, _CONSTANT_LINES, _SMALL_READER, _SMALL_READER


class MemoryController(wiring.Component):
    """Serves the array, the command processor and the conditional unit from memory.

    Members
    -------
    command : ``In(stream.Signature(UNIT_COMMAND))``
        See `Registers`.
    inputs, outputs, conditional, conditional_mask : as `Registers`
    forget_constants : ``Out(1)``
    lookup_requests, lookup_responses : as those of `InputCaches`, for each core
    instruction_request, instruction_response : as those of `InstructionReader`
    code : ``In(32)``
    constant_request, constant_response : as those of `ConstantReader`
    output, uncached_write, uncached_done : as those of `Outputs`
    conditional_client : ``In(conditional_port(passenger))``
    line_request, line_response : the command processor's reads
    counters_write : ``In(stream.Signature(COUNTERS_WRITE))``
    counters_written : ``Out(stream.Signature(LINE_WRITTEN))``
    idle : ``Out(1)``
        All that the array wrote is in the output cache, or in memory.
    lost, lost_fault, lost_taken : ``Out(1)``, ``Out(BUS_FAULT)``, ``In(1)``
        The first write, or read of the conditional buffer, that memory refused and nobody has been told of.
    watch : ``In(1)``
        From now on remember the array's first refused read.
    refused_address : ``Out(32)``
        Address of that read's line.
    port_requests, port_responses, port_writes, port_answers : as those of `ReadPorts` and `WritePorts`
    events : ``Out``
        For counters: hits and misses.
    """

    EVENTS = data.StructLayout(
        {name: 1 for name in ("shared_hit", "shared_miss", "conditional_hit", "conditional_miss", "output_line")}
    )

    def __init__(
        self,
        config: MachineConfig,
        *,
        tag: ShapeLike,
        slot: ShapeLike,
        conditional_passenger: ShapeLike,
        constants: dict[str, int],
    ) -> None:
        self._config, self._tag, self._slot = config, tag, slot
        self._passenger, self._constants = conditional_passenger, constants
        cores, lanes, memory = config.array.cores, config.array.lanes, config.memory
        self._reads = ReadPorts(read_clients(memory.outstanding_lines), split=memory.split)
        self._writes = WritePorts(_ORDERED, split=memory.split, outstanding=WRITES)
        self._constant_reader = ConstantReader(banks=len(BANKS), **constants)
        self.read_tag, self.write_tag = self._reads.tag, self._writes.tag
        ports = port_count(memory.split)
        constant_members = self._constant_reader.signature.members
        super().__init__(
            {
                "command": In(stream.Signature(UNIT_COMMAND)),
                "inputs": Out(data.ArrayLayout(BUFFER, INPUTS)),
                "outputs": Out(data.ArrayLayout(BUFFER, OUTPUTS)),
                "conditional": Out(BUFFER),
                "conditional_mask": Out(1),
                "forget_constants": Out(1),
                "lookup_requests": In(stream.Signature(lookup_request_layout(lanes, tag))).array(cores),
                "lookup_responses": Out(stream.Signature(lookup_response_layout(lanes, tag))).array(cores),
                "instruction_request": In(stream.Signature(INSTRUCTION_REQUEST)),
                "instruction_response": Out(stream.Signature(INSTRUCTION_RESPONSE)),
                "code": In(ADDRESS_BITS),
                "constant_request": constant_members["request"],
                "constant_response": constant_members["response"],
                "output": In(stream.Signature(output_layout(lanes))),
                "uncached_write": In(stream.Signature(uncached_write_layout(lanes, slot))),
                "uncached_done": Out(stream.Signature(data.StructLayout({"slot": slot}))),
                "conditional_client": In(conditional_port(conditional_passenger)),
                "line_request": In(stream.Signature(LINE_REQUEST)),
                "line_response": Out(stream.Signature(LINE_RESPONSE)),
                "counters_write": In(stream.Signature(COUNTERS_WRITE)),
                "counters_written": Out(stream.Signature(LINE_WRITTEN)),
                "idle": Out(1),
                "lost": Out(1),
                "lost_fault": Out(BUS_FAULT),
                "lost_taken": In(1),
                "watch": In(1),
                "refused_address": Out(ADDRESS_BITS),
                "input_hit": Out(cores),
                "input_miss": Out(cores),
                "events": Out(self.EVENTS),
                "port_requests": Out(stream.Signature(tagged_request_layout(self.read_tag))).array(ports),
                "port_responses": In(stream.Signature(tagged_response_layout(self.read_tag))).array(ports),
                "port_writes": Out(stream.Signature(tagged_write_layout(self.write_tag))).array(ports),
                "port_answers": In(stream.Signature(tagged_answer_layout(self.write_tag))).array(ports),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.registers = self._registers = Registers()
        m.submodules.reads, m.submodules.writes = self._reads, self._writes
        registers = self._registers
        connect(m, flipped(self.command), registers.command)
        for name in ("inputs", "outputs", "conditional", "conditional_mask", "forget_constants"):
            m.d.comb += getattr(self, name).eq(getattr(registers, name))
        for port in range(len(self.port_requests)):
            connect(m, self._reads.port_requests[port], flipped(self.port_requests[port]))
            connect(m, flipped(self.port_responses[port]), self._reads.port_responses[port])
            connect(m, self._writes.port_writes[port], flipped(self.port_writes[port]))
            connect(m, flipped(self.port_answers[port]), self._writes.port_answers[port])
        self._connect_inputs(m)
        self._connect_fills(m)
        self._connect_outputs(m)
        self._connect_conditional(m)
        self._connect_processor(m)
        self._connect_refusals(m)
        return m

    def _connect_reader(self, m: Module, client: int, reader: wiring.Component) -> None:
        connect(m, reader.line_request, self._reads.requests[client])
        connect(m, self._reads.responses[client], reader.line_response)

    def _connect_inputs(self, m: Module) -> None:
        config, registers = self._config, self._registers
        m.submodules.inputs = caches = InputCaches(
            config.input_cache,
            config.shared_cache,
            cores=config.array.cores,
            lanes=config.array.lanes,
            tag=self._tag,
            outstanding=config.memory.outstanding_lines,
        )
        self._connect_reader(m, _INPUT, caches)
        for core in range(config.array.cores):
            connect(m, flipped(self.lookup_requests[core]), caches.requests[core])
            connect(m, caches.responses[core], flipped(self.lookup_responses[core]))
        m.d.comb += [
            caches.inputs.eq(registers.inputs),
            caches.invalidate.eq(registers.invalidate_inputs),
            registers.inputs_idle.eq(caches.idle),
            self.input_hit.eq(caches.hit),
            self.input_miss.eq(caches.miss),
            self.events.shared_hit.eq(caches.shared_hit),
            self.events.shared_miss.eq(caches.shared_miss),
        ]

    def _connect_fills(self, m: Module) -> None:
        """Instructions and constants."""
        instructions = InstructionReader(outstanding=_SMALL_READER)
        m.submodules.instructions = Pausing(instructions, instructions.request.valid | ~instructions.idle)
        m.submodules.constants = constants = self._constant_reader
        self._connect_reader(m, _INSTRUCTION, instructions)
        self._connect_reader(m, _CONSTANT, constants)
        connect(m, flipped(self.instruction_request), instructions.request)
        connect(m, instructions.response, flipped(self.instruction_response))
        connect(m, flipped(self.constant_request), constants.request)
        connect(m, constants.response, flipped(self.constant_response))
        m.d.comb += [instructions.code.eq(self.code), constants.bases.eq(self._registers.constant_bases)]

    def _connect_outputs(self, m: Module) -> None:
        config, registers = self._config, self._registers
        m.submodules.outputs = self._outputs = outputs = Outputs(
            config.array.lanes, self._slot, entries=config.output_cache.lines
        )  # fmt: skip
        connect(m, flipped(self.output), outputs.output)
        connect(m, flipped(self.uncached_write), outputs.uncached_write)
        connect(m, outputs.uncached_done, flipped(self.uncached_done))
        connect(m, outputs.line, self._writes.writes[_OUTPUT])
        connect(m, outputs.uncached_line, self._writes.writes[_UNCACHED])
        connect(m, self._writes.written[_UNCACHED], outputs.uncached_written)
        m.d.comb += [
            self._writes.written[_OUTPUT].ready.eq(1),
            outputs.outputs.eq(registers.outputs),
            outputs.output_mask.eq(registers.output_mask),
            outputs.flush.eq(registers.flush_outputs),
            registers.outputs_flushed.eq(outputs.idle & outputs.empty & self._writes.idle[_OUTPUT]),
            self.idle.eq(outputs.idle),
            self.events.output_line.eq(outputs.line.valid & outputs.line.ready),
        ]

    def _connect_conditional(self, m: Module) -> None:
        registers = self._registers
        self._conditional = cache = ConditionalCache(self._passenger, self._config.conditional_cache)
        active = cache.client.access.valid | cache.invalidate | cache.flush | ~cache.idle
        m.submodules.conditional = Pausing(cache, active)
        self._connect_reader(m, _CONDITIONAL, cache)
        connect(m, flipped(self.conditional_client), cache.client)
        connect(m, cache.line_write, self._writes.writes[_CONDITIONAL_WRITE])
        connect(m, self._writes.written[_CONDITIONAL_WRITE], cache.line_written)
        m.d.comb += [
            cache.invalidate.eq(registers.invalidate_conditional),
            cache.flush.eq(registers.flush_conditional),
            registers.conditional_idle.eq(cache.idle),
            registers.conditional_flushed.eq(cache.flushed),
            self.events.conditional_hit.eq(cache.hit),
            self.events.conditional_miss.eq(cache.miss),
        ]

    def _connect_processor(self, m: Module) -> None:
        """What the command processor reads and writes."""
        m.submodules.counters = counters = CounterWriter()
        connect(m, flipped(self.line_request), self._reads.requests[_COMMAND])
        connect(m, self._reads.responses[_COMMAND], flipped(self.line_response))
        connect(m, flipped(self.counters_write), counters.counters)
        connect(m, counters.line, self._writes.writes[_COUNTERS])
        connect(m, self._writes.written[_COUNTERS], flipped(self.counters_written))

    def _connect_refusals(self, m: Module) -> None:
        """What memory refused: the first of each kind that nobody has been told of."""
        low = Const(0, LINE_OFFSET_BITS)
        reads, writes, conditional = self._reads, self._writes, self._conditional.lost
        watching = Signal()
        array_reads = Cat(reads.refused[client] for client in (_INPUT, _INSTRUCTION, _CONSTANT)).any()
        with m.If(watching & array_reads):
            m.d.sync += [self.refused_address.eq(Cat(low, reads.refused_line)), watching.eq(0)]
        with m.If(self.watch):
            m.d.sync += watching.eq(1)

        written = Cat(
            writes.written[client].valid & writes.written[client].payload.refused for client in (_OUTPUT, _UNCACHED)
        ).any()
        fault = Signal(BUS_FAULT)
        m.d.comb += [
            fault.client.eq(Mux(written, BusClient.OUTPUT, BusClient.CONDITIONAL_OUTPUT)),
            fault.address.eq(Mux(written, Cat(low, writes.answered_line), conditional.fault.address)),
        ]
        with m.If(self.lost_taken):
            m.d.sync += self.lost.eq(0)
        with m.If((~self.lost | self.lost_taken) & (written | conditional.valid)):
            m.d.sync += [self.lost.eq(1), self.lost_fault.eq(fault)]
