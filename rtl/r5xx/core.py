"""A core: runs wavefronts through a program of the R5xx instruction set.

This file wires what is R5xx's: code, constants and ports. docs/design/r5xx-core.md has the picture.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.constants.loader import ConstantLoader
from ctm.rtl.dpp.core_units import CoreUnits, connect_units, make_units
from ctm.rtl.dpp.program import program_layout, register_program
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.alu.port import AluPort
from ctm.rtl.r5xx.alu.sources import FLOAT_LINES
from ctm.rtl.r5xx.alu.uncached_pairs import UncachedPairs
from ctm.rtl.r5xx.code.store import InstructionStore
from ctm.rtl.r5xx.core_units import Units
from ctm.rtl.r5xx.flow.port import FLOW_LINES, FlowPort
from ctm.rtl.r5xx.shapes import SHAPES, Unit
from ctm.rtl.r5xx.texture.port import TexturePort
from ctm.rtl.r5xx.trace import connect_trace, traced_members

_ALU, _TEXTURE, _FLOW, _FAULT = range(4)
"""Readers of the wavefronts' states."""


class Core(wiring.Component):
    """One core of the array.

    Members
    -------
    program and so on
        See `core_members`. Cores with the same `load`, `program`, reset and responses request the same
        instructions in the same cycles.
    trace : ``Out(trace_layout(config))``

    `generic` and `own` are its units.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config, array = config, config.array
        self.generic = make_units(config, SHAPES, readers=_FAULT + 1)
        self.own = Units(
            store=InstructionStore(),
            loader=ConstantLoader(FLOAT_LINES, FLOW_LINES),
            alu=AluPort(config),
            texture=TexturePort(array),
            flow=FlowPort(array),
            pairs=UncachedPairs(array),
        )
        self.launched = Signal(program_layout(SHAPES))
        """The program's settings, a cycle after `program` has them."""
        super().__init__(traced_members(config.array))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        register_program(m, self.program.settings, self.launched)
        array, generic, own = self._config.array, self.generic, self.own
        for name, unit in (*vars(generic).items(), *vars(own).items()):
            m.submodules[name] = unit
        allocation = connect_units(m, self, generic, array)
        m.d.comb += [own.alu.allocation.eq(allocation), own.texture.allocation.eq(allocation)]
        self._connect_loading(m, generic, own)
        self._connect_issue(m, generic, own)
        self._connect_states(m, generic, own)
        self._connect_alu(m, generic, own)
        self._connect_texture(m, generic, own)
        if array.beats > 1:
            self._connect_beats(m, generic, own)
        self._count(m, generic, own)
        fault, fault_wave = self._find_fault(m, generic, own)
        connect_trace(m, self.trace, generic, own, fault, fault_wave)
        # No output of a core depends on a signal that settles late in a cycle, as flow control's do.
        m.d.sync += [self.fault.valid.eq(fault.valid), self.fault.payload.eq(fault.payload)]
        return m

    def _connect_loading(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Instructions and constants."""
        store, loader = own.store, own.loader
        connect(m, store.client, flipped(self.code))
        connect(m, loader.client, flipped(self.constants))
        connect(m, own.alu.constants, loader.alu)
        connect(m, own.flow.constants, loader.flow)
        m.d.comb += [
            store.size.eq(self.launched.size),
            store.uncached_writes.eq(self.launched.uncached_writes),
            store.load.eq(self.load | self.wavefront.valid),
            store.invalidate.eq(self.program.invalidate_code),
            loader.invalidate.eq(self.program.invalidate_constants),
            generic.scheduler.available.constants.eq(~loader.busy),
        ]

    def _connect_issue(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Scheduler, instruction store and ports."""
        scheduler, store, summaries = generic.scheduler, own.store, generic.scheduler.summaries
        ports = {Unit.ALU: own.alu, Unit.TEXTURE: own.texture, Unit.FLOW: own.flow}
        entries = {Unit.ALU: store.alu, Unit.TEXTURE: store.texture, Unit.FLOW: store.flow}
        for unit, port in ports.items():
            connect(m, scheduler.ports[unit.value], port.scheduler)
            connect(m, port.instruction, entries[unit])
            m.d.comb += port.program.eq(self.launched)
        connect(m, own.alu.vacating, scheduler.vacating)
        m.d.comb += [
            store.pc.eq(summaries.fetch.pc),
            summaries.fetched.eq(store.summary),
            summaries.can_fetch.eq(store.loaded),
            scheduler.available.ready.eq(~0),
            scheduler.available.ready[Unit.TEXTURE.value].eq(own.texture.ready),
            scheduler.available.resources.eq(Cat(own.alu.ready.direct, generic.uncached.ready)),
            own.flow.expired.eq(scheduler.expired),
            own.flow.error.eq(store.error),
        ]

    def _connect_beats(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Where wavefronts have several beats: those that are read and written, and the cycles of the ALU's issues."""
        m.d.comb += [
            generic.registers.texture_beat.eq(own.texture.source_beat),
            generic.scheduler.available.ready[Unit.ALU.value].eq(own.alu.ready.any),
        ]

    def _connect_states(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """The wavefronts' states, which ports read and change."""
        states, control = generic.states, own.flow.control
        alu = own.alu.wavefront
        readers = {_ALU: alu.state, _TEXTURE: own.texture.wavefront, _FLOW: own.flow.wavefront}
        for reader, wavefront in readers.items():
            issue = generic.scheduler.ports[reader].issue
            m.d.comb += [states.waves[reader].eq(issue.wave), wavefront.eq(states.wavefronts[reader])]
        m.d.comb += [
            states.stacks_wave.eq(generic.scheduler.ports[Unit.FLOW.value].issue.wave),
            Cat(states.reads).eq(Cat(own.alu.instruction.reads, own.texture.instruction.reads, 1, 1)),
            own.flow.stacks.eq(states.stacks),
            *(states.control[name].eq(control[name]) for name in ("valid", "wave")),
            *(
                target[name].eq(control.state[name])
                for target in (states.control.control, states.control.stacks)
                for name, _ in target.shape()
            ),
            states.valid_mask.eq(own.texture.valid_mask),
            states.flags.eq(alu.flags),
            alu.second.eq(generic.scheduler.contexts.second.bit_select(alu.wave, 1)),
        ]

    def _connect_alu(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Registers of the ALU, outputs and uncached writes."""
        alu, registers, uncached = own.alu, generic.registers, generic.uncached
        connect(m, alu.sources, registers.sources)
        connect(m, alu.results, registers.results)
        m.d.comb += [
            generic.outputs.write.eq(alu.outputs),
            generic.retirement.vacated.eq(alu.vacated),
            own.pairs.limits.eq(self.launched.output),
            own.pairs.result.eq(alu.uncached.result),
            uncached.announced.eq(alu.uncached.announced),
            uncached.result.eq(own.pairs.write),
            generic.outstanding.write.eq(alu.uncached.acquiring),
        ]

    def _connect_texture(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Connect the texture port to the coordinate units."""
        texture, registers, outstanding = own.texture, generic.registers, generic.outstanding
        connect(m, texture.request, generic.coordinates.request)
        m.d.comb += [
            registers.texture_source.eq(texture.source),
            texture.words.eq(registers.texture_words),
            outstanding.texture.eq(texture.asked),
            texture.fetch_entry.eq(outstanding.entry),
            generic.fetches.record.eq(texture.record),
        ]

    def _count(self, m: Module, generic: CoreUnits, own: Units) -> None:
        """Instructions that have started, and whether the core is idle."""
        contexts = generic.scheduler.contexts.taken
        m.d.comb += self.idle.eq(~contexts.any() & generic.uncached.empty & ~own.store.loading & ~own.loader.busy)
        ports = {
            Unit.ALU: (own.alu.started, delay(m, own.alu.wavefront.state.active, name="alu_active")),
            Unit.TEXTURE: (own.texture.asked.valid, own.texture.wavefront.active),
            Unit.FLOW: (own.flow.started, own.flow.active),
        }
        for unit, (executes, active) in ports.items():
            m.d.sync += [
                self.activity.issued[unit.value].eq(executes),
                self.activity.active_lanes[unit.value].eq(Mux(executes, sum(active), 0)),
            ]

    def _find_fault(self, m: Module, generic: CoreUnits, own: Units) -> tuple[data.View, Value]:
        """A fault, a cycle before it is reported, and the wave slot of its wavefront."""
        fetches, wave = generic.fetches, Signal(wave_bits(self._config.array))
        fault_wave = delay(m, wave, name="fault_wave")
        report = self.signature.members["fault"].signature.create()
        flow_done, alu_done = own.flow.scheduler.done, own.alu.scheduler.done
        m.d.comb += [
            generic.states.waves[_FAULT].eq(wave),
            report.payload.i.eq(generic.states.wavefronts[_FAULT].i),
            report.payload.j.eq(generic.states.wavefronts[_FAULT].j),
        ]
        # The wavefront's number is read a cycle later; it is valid for as long as the wavefront has its context.
        m.d.comb += wave.eq(fetches.returned.wave)
        m.d.sync += [report.valid.eq(0), report.payload.client.eq(0), report.payload.status.eq(Status.BUS_ERROR)]
        with m.If(flow_done.valid & flow_done.faults & ~flow_done.again):
            m.d.comb += wave.eq(flow_done.wave)
            m.d.sync += [
                report.valid.eq(1),
                report.payload.pc.eq(own.flow.pc),
                report.payload.status.eq(own.flow.fault.status),
                report.payload.client.eq(own.flow.fault.client),
            ]
        with m.Elif(alu_done.valid & alu_done.faults & ~alu_done.again):
            m.d.comb += wave.eq(alu_done.wave)
            m.d.sync += [
                report.valid.eq(1),
                report.payload.pc.eq(alu_done.pc - 1),
                report.payload.client.eq(BusClient.FLOAT_CONSTANT),
            ]
        with m.Elif(fetches.error.valid):
            m.d.sync += [
                report.valid.eq(1),
                report.payload.pc.eq(fetches.error.pc),
                report.payload.client.eq(BusClient.INPUT),
            ]
        return report, fault_wave
