"""The machine: host interface, command processor, conditional unit, memory controller, array. This file wires."""

from amaranth import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.co.slices import WavefrontSlices
from ctm.rtl.co.unit import ConditionalUnit, passenger_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.array import Array, CoreMaker
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.core_module import CoreModule
from ctm.rtl.dpp.wavefronts.scheduling import STALLS, wave_bits
from ctm.rtl.draw.pipeline import DrawPipeline
from ctm.rtl.host.control_bus import ControlBusSignature
from ctm.rtl.host.interface import HostInterface
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.isa.limits import QUAD
from ctm.rtl.lib.clock_gating import Gated, resettable
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.mc.bus.axi import BusSignature
from ctm.rtl.mc.bus.memory_ports import MemoryPorts
from ctm.rtl.mc.controller import MemoryController, command_bits, read_clients, written_lines
from ctm.rtl.pe.processor import CommandProcessor

_PROCESSOR, _ARRAY = range(2)
"""Clients of the conditional unit."""


class Machine(wiring.Component):
    """Executes command buffers that lie in memory.

    `core` makes the cores, see `Array`.

    Members
    -------
    control : ``In(ControlBusSignature())``
        The host's registers; docs/isa.md has their table.
    irq : ``Out(1)``
    buses : ``Out(BusSignature(data_bits))`` for each of `memory.ports`

    Attributes
    ----------
    soft_reset
        The reset of all units but the host interface and the memory ports, beside that of the clock domain.
    """

    def __init__(self, config: MachineConfig, core: CoreMaker = CoreModule) -> None:
        self._config = config
        array, memory = config.array, config.memory
        self._instruction_set = INSTRUCTION_SETS[array.instruction_set]
        self._ports = len(memory.ports)
        self._host = HostInterface(config)
        self.soft_reset = self._host.reset
        self.processor = CommandProcessor(
            array, self._instruction_set.shapes.program_format, config.pipeline, slice_bits=command_bits(config)
        )
        self._conditional = ConditionalUnit(array.lanes)
        self._array = Array(config, self._instruction_set, core)
        self._draw = (
            DrawPipeline(config, self._instruction_set.shapes.program_format) if config.pipeline.draws else None
        )
        self._launch = self._instruction_set.launch(config)
        self.controller = MemoryController(
            config,
            areas=self._instruction_set.shapes.areas,
            tag=fetch_tag_layout(array, self._instruction_set.shapes),
            wave=wave_bits(array) + (array.cores - 1).bit_length(),
            conditional_passenger=passenger_layout(array.lanes),
        )
        self._memory_ports = MemoryPorts(
            self.controller.read_tag,
            self.controller.write_tag,
            ports=self._ports,
            data_bits=memory.data_bits,
            slice_bits=memory.slice_bits,
            reads=sum(client.lines for client in read_clients(config)),
            writes=written_lines(memory),
        )
        super().__init__(
            {
                "control": In(ControlBusSignature()),
                "irq": Out(1),
                "buses": Out(BusSignature(config.memory.data_bits)).array(self._ports),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.host = host = self._host
        m.submodules.memory_ports = self._memory_ports
        m.submodules.launch = self._launch
        # A soft reset is the reset of all units but the host interface and the memory ports.
        m.submodules.processor = resettable(self.processor, host.reset)
        m.submodules.array = resettable(self._array, host.reset)
        m.submodules.controller = resettable(self.controller, host.reset)
        tests = [port.valid for client in self._conditional.clients for port in (client.request, client.response)]
        # Commands of the memory controller change what it tests, and the buffer.
        commands = [self.processor.memory.command.valid, self._conditional.command.valid]
        active = Cat(commands, tests).any() | ~self._conditional.idle
        m.submodules.conditional = resettable(Gated(self._conditional, active), host.reset)
        self._connect_host(m)
        self._connect_processor(m)
        self._connect_array(m)
        self._connect_memory(m)
        if self._draw is not None:
            self._connect_draw(m, self._draw)
        self._connect_counters(m)
        return m

    def _connect_host(self, m: Module) -> None:
        host, processor, ports = self._host, self.processor, self._memory_ports
        connect(m, flipped(self.control), host.bus)
        connect(m, host.processor, processor.host)
        m.d.comb += [
            self.irq.eq(host.irq),
            host.ports_idle.eq(ports.idle),
            ports.drain.eq(host.reset),
        ]

    def _connect_processor(self, m: Module) -> None:
        """The command processor and what it commands."""
        processor, controller, conditional, launch = (
            self.processor, self.controller, self._conditional, self._launch,
        )  # fmt: skip
        connect(m, processor.memory, controller.processor)
        connect(m, processor.co_command, conditional.command)
        connect(m, processor.launch, launch.processor)
        connect(m, controller.conditional, conditional.target)
        self._connect_tester(m)
        m.d.comb += [
            processor.conditional_legal.eq(conditional.format_legal),
            processor.tests.eq(conditional.tests_pe),
            launch.inputs.eq(controller.inputs),
            launch.outputs.eq(controller.outputs),
            launch.tests.eq(conditional.tests_dpp),
            launch.watchdog.eq(self._host.watchdog),
        ]

    def _connect_tester(self, m: Module) -> None:
        """Connect the command processor's tests, in slices if wavefronts are wider than the conditional unit."""
        array, tester, unit = self._config.array, self.processor.tester, self._conditional.clients[_PROCESSOR]
        if array.wavefront_lanes == array.lanes:
            connect(m, tester, unit)
            return
        slices = WavefrontSlices(array.wavefront_lanes, array.lanes)
        m.submodules.slices = resettable(slices, self._host.reset)
        connect(m, tester, slices.client)
        connect(m, slices.unit, unit)

    def _connect_array(self, m: Module) -> None:
        """The array's work and its memory clients."""
        array, processor, controller, conditional = (
            self._array, self.processor, self.controller, self._conditional,
        )  # fmt: skip
        if self._draw is None:
            connect(m, processor.wavefront, array.wavefront)
        connect(m, array.report, processor.array)
        for credit, own in zip(array.credits, processor.credits, strict=True):
            connect(m, credit, own)
        m.d.comb += [
            array.reset.eq(self._host.reset),
            array.program.settings.eq(self._launch.program),
            array.code_address.eq(processor.launch.image.code),
            array.program.invalidate_code.eq(processor.image_loaded),
            array.program.invalidate_constants.eq(controller.invalidate_constants),
        ]
        for core in range(self._config.array.cores):
            connect(m, array.fetches[core], controller.fetches[core])
        for name in ("code", "constants", "uncached", "output"):
            connect(m, getattr(array, name), getattr(controller, name))
        connect(m, array.tests, conditional.clients[_ARRAY])

    def _connect_draw(self, m: Module, draw: DrawPipeline) -> None:
        """The draw pipeline, between the command processor and the array."""
        m.submodules.draw = resettable(draw, self._host.reset)
        processor, array, launch, controller = self.processor, self._array, self._launch, self.controller
        connect(m, array.report, draw.array)
        connect(m, processor.draw, draw.draw)
        connect(m, draw.lines, processor.draw_lines)
        connect(m, draw.blending, controller.blending)
        m.d.comb += [
            draw.tests.eq(processor.tests),
            draw.programs.eq(launch.draw_programs),
            launch.draw.eq(draw.state),
        ]
        if self._config.pipeline.has_geometry:
            connect(m, processor.filled, draw.filled)
            m.d.comb += [
                draw.ring.eq(controller.draw_buffers.ring),
                draw.stream.eq(controller.draw_buffers.stream),
            ]
        # The address of the indices is that of a read that failed, if one of these did.
        with m.If(processor.draw.failed & processor.draw.index_failed):
            m.d.comb += processor.memory.read_errors.address.eq(processor.draw.state.indices.address)
        self._connect_shading(m, draw)
        self._count_draws(m, draw)

    def _connect_shading(self, m: Module, draw: DrawPipeline) -> None:
        """Vertices and pixels of draws, whose wavefronts the array takes while no program of a domain runs."""
        array, own, given = self._array, draw.shading, self._array.shading
        of_domain, of_draw, taken = self.processor.wavefront, draw.wavefront, array.wavefront
        m.d.comb += [
            taken.valid.eq(of_domain.valid | of_draw.valid),
            of_domain.ready.eq(taken.ready),
            of_draw.ready.eq(taken.ready),
            *(
                taken.payload[name].eq(Mux(of_draw.valid, of_draw.payload[name], of_domain.payload[name]))
                for name in ("i", "j", "covered", "core")
            ),
            taken.payload.drawn.eq(of_draw.payload.drawn),
            given.vertex.eq(own.vertex),
            given.buffer.eq(self.controller.draw_buffers.vertex_buffer),
            given.words.eq(own.words),
            own.exported.eq(given.exported),
            own.constant.eq(given.constant),
            own.ended.eq(given.ended),
        ]
        if self._config.pipeline.has_geometry:
            connect(m, given.emits, own.emits)
            m.d.comb += [given.thread.eq(own.thread), own.streams.eq(given.streams)]

    def _count_draws(self, m: Module, draw: DrawPipeline) -> None:
        """What the host's counters count of draws."""
        counts, steps = draw.counts, self._host.draw_steps
        raster = counts.raster
        m.d.comb += [
            steps.DRAW_VERTICES.eq(counts.vertices),
            steps.DRAW_EMITTED.eq(counts.emitted),
            steps.DRAW_PRIMITIVES.eq(raster.taken),
            steps.DRAW_DROPPED.eq(raster.dropped),
            steps.DRAW_CLIPPED.eq(raster.clipped),
            steps.DRAW_PIECES.eq(raster.pieces),
            steps.DRAW_CULLED.eq(raster.culled),
            steps.DRAW_STRIPS.eq(counts.strips),
            steps.DRAW_QUADS.eq(sum(draw.covered[at : at + QUAD].any() for at in range(0, len(draw.covered), QUAD))),
            steps.DRAW_PIXELS.eq(sum(draw.covered)),
            steps.DRAW_CLOCKS_VERTICES.eq(counts.clocks_vertices),
            steps.DRAW_CLOCKS_PIXELS.eq(counts.clocks_pixels),
            steps.DRAW_WAIT_ORDER.eq(counts.wait_order),
            steps.DRAW_WAIT_RASTER.eq(counts.wait_raster),
        ]

    def _connect_memory(self, m: Module) -> None:
        controller, ports = self.controller, self._memory_ports
        connect(m, self._conditional.cache, controller.conditional_client)
        for port in range(self._ports):
            connect(m, controller.ports[port], ports.clients[port])
            connect(m, ports.buses[port], flipped(self.buses[port]))

    def _connect_counters(self, m: Module) -> None:
        """What the host's counters count."""
        steps, array, processor = self._host.steps, self._array, self.processor
        events = self.controller.events
        m.d.comb += [
            steps.BUSY.eq(~processor.host.idle),
            steps.ACTIVE.eq(delay(m, ~array.report.idle, name="array_works")),
            steps.GROUPS.eq(delay(m, array.wavefront.valid & array.wavefront.ready, name="wavefront_taken")),
            steps.PROCESSORS.eq(processor.walked),
            steps.INPUT_HITS.eq(sum(events.input_hit)),
            steps.INPUT_MISSES.eq(sum(events.input_miss)),
            steps.SHARED_HITS.eq(sum(events.shared_hit)),
            steps.SHARED_MISSES.eq(sum(events.shared_miss)),
            steps.CONDITIONAL_HITS.eq(events.conditional_hit),
            steps.CONDITIONAL_MISSES.eq(events.conditional_miss),
            steps.OUTPUT_LINES.eq(sum(events.output_line)),
        ]
        ports = self._instruction_set.shapes.ports
        for number, port in enumerate(ports):
            m.d.comb += [
                steps[f"ISSUED_{port.name}"].eq(sum(array.activity.issued[number :: len(ports)])),
                steps[f"LANES_{port.name}"].eq(array.activity.active_lanes[number]),
            ]
        m.d.comb += [steps[f"STALL_{cause}"].eq(array.activity.stalls[number]) for number, cause in enumerate(STALLS)]
        local = self._config.memory.local_ports
        for name, buses in (("LOCAL", self.buses[:local]), ("SYSTEM", self.buses[local:])):
            m.d.comb += [
                steps[f"{name}_{kind}_BEATS"].eq(sum(delay(m, channel.valid & channel.ready) for channel in channels))
                for kind, channels in (("READ", [bus.r for bus in buses]), ("WRITE", [bus.w for bus in buses]))
            ]
