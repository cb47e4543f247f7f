"""A core: runs groups through a program of the R5xx instruction set.

This file wires. docs/architecture.md has the picture.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out, connect, flipped

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.constants.loader import ConstantLoader
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.groups.retirement import Retirement
from ctm.rtl.dpp.groups.scheduler import Scheduler
from ctm.rtl.dpp.groups.scheduling import slot_bits
from ctm.rtl.dpp.groups.starter import Starter
from ctm.rtl.dpp.groups.state import GroupStates
from ctm.rtl.dpp.memory.coordinates import Coordinates
from ctm.rtl.dpp.memory.lookup_return import LookupReturn
from ctm.rtl.dpp.memory.lookups import passenger_layout
from ctm.rtl.dpp.memory.outstanding import Outstanding
from ctm.rtl.dpp.memory.uncached_writes import UncachedWrites
from ctm.rtl.dpp.registers.file import RegisterFile
from ctm.rtl.dpp.registers.outputs import OutputRegisters
from ctm.rtl.dpp.registers.placement import Placement, allocate, usable_slots
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r5xx.alu.port import AluPort
from ctm.rtl.r5xx.alu.sources import FLOAT_LINES
from ctm.rtl.r5xx.alu.uncached_pairs import UncachedPairs
from ctm.rtl.r5xx.code.store import InstructionStore
from ctm.rtl.r5xx.flow.port import FLOW_LINES, FlowPort
from ctm.rtl.r5xx.shapes import SHAPES, Unit
from ctm.rtl.r5xx.texture.port import TexturePort
from ctm.rtl.r5xx.trace import trace_layout

_ALU, _TEXTURE, _FLOW, _FAULT = range(4)
"""Readers of the groups' states."""
_OUTPUT, _TEST = range(2)
"""Readers of the states of groups at their end."""


class Core(wiring.Component):
    """One core of the array.

    Members
    -------
    program and so on
        See `core_members`. Cores with the same `load`, `forget_code`, reset and answers ask for the same instructions
        in the same cycles.
    trace : ``Out(trace_layout(config))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        super().__init__(core_members(config.array, SHAPES) | {"trace": Out(trace_layout(config.array))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        array = config.array
        m.submodules.store = self._store = InstructionStore()
        m.submodules.loader = self._loader = ConstantLoader(FLOAT_LINES, FLOW_LINES)
        m.submodules.scheduler = self._scheduler = Scheduler(array, SHAPES)
        m.submodules.states = self._states = GroupStates(array, SHAPES, _FAULT + 1)
        m.submodules.registers = self._registers = RegisterFile(array, SHAPES)
        m.submodules.outputs = self._outputs = OutputRegisters(array, SHAPES)
        m.submodules.outstanding = self._outstanding = Outstanding(array)
        m.submodules.starter = self._starter = Starter(array)
        m.submodules.alu = self._alu = AluPort(config)
        m.submodules.texture = self._texture = TexturePort(array)
        m.submodules.flow = self._flow = FlowPort(array)
        m.submodules.coordinates = self._coordinates = Coordinates(
            array.lanes, passenger_layout(array), config.arithmetic
        )
        m.submodules.lookups = self._lookups = LookupReturn(array, SHAPES)
        m.submodules.pairs = self._pairs = UncachedPairs(array)
        m.submodules.uncached = self._uncached = UncachedWrites(array)
        m.submodules.retirement = self._retirement = Retirement(array, SHAPES)
        self._connect_start(m)
        self._connect_loading(m)
        self._connect_issue(m)
        self._connect_alu(m)
        self._connect_texture(m)
        self._connect_register_writes(m)
        self._connect_end(m)
        self._connect_faults(m)
        self._connect_trace(m)
        return m

    def _connect_start(self, m: Module) -> None:
        """Groups that come in."""
        scheduler, starter, program = self._scheduler, self._starter, self.program
        takes = self.group.valid & self.group.ready
        self._allocation = allocation = allocate(m, program.highest_temporary)
        m.d.comb += [
            *(unit.allocation.eq(allocation) for unit in (self._alu, self._texture)),
            self._registers.slot_exponent.eq(allocation.exponent),
            scheduler.slots.eq(usable_slots(self._config.array, allocation.exponent)),
            self.group.ready.eq(scheduler.has_free & ~starter.busy),
            scheduler.admit.eq(takes),
            *(unit.start.valid.eq(takes) for unit in (self._outputs, self._states)),
            *(unit.start.row.eq(scheduler.free_row) for unit in (self._outputs, self._states)),
            self._states.start.group.eq(self.group.payload),
            self._states.second.eq(scheduler.second),
            starter.group.valid.eq(takes),
            starter.group.slot.eq(scheduler.free_row[:-1]),
            starter.group.group.eq(self.group.payload),
            starter.highest_temporary.eq(program.highest_temporary),
            scheduler.start.eq(program.start),
            scheduler.begin.eq(starter.begin),
            scheduler.watchdog.eq(program.watchdog),
        ]

    def _connect_loading(self, m: Module) -> None:
        """Instructions and constants."""
        store, loader = self._store, self._loader
        connect(m, store.client, flipped(self.code))
        connect(m, loader.client, flipped(self.constants))
        m.d.comb += [
            store.size.eq(self.program.size),
            store.uncached_writes.eq(self.program.uncached_writes),
            store.load.eq(self.load | self.group.valid),
            store.forget.eq(self.forget_code),
            loader.forget.eq(self.forget_constants),
            loader.alu.eq(self._alu.miss),
            loader.flow.eq(self._flow.miss),
            self._alu.loaded.eq(loader.float_loaded),
            self._alu.constant_write.eq(loader.write),
            self._flow.integer_loaded.eq(loader.int_loaded),
            self._flow.boolean_loaded.eq(loader.bool_loaded),
            self._flow.constant_write.eq(loader.write),
        ]

    def _connect_issue(self, m: Module) -> None:
        """Scheduler, instruction store and ports."""
        scheduler, store = self._scheduler, self._store
        ports = {Unit.ALU: self._alu, Unit.TEXTURE: self._texture, Unit.FLOW: self._flow}
        slots = {Unit.ALU: store.alu_slot, Unit.TEXTURE: store.texture_slot, Unit.FLOW: store.flow_slot}
        entries = {Unit.ALU: store.alu, Unit.TEXTURE: store.texture, Unit.FLOW: store.flow}
        for unit, port in ports.items():
            issue = scheduler.issue[unit.value]
            m.d.comb += [
                port.issue.eq(issue),
                slots[unit].eq(issue.pc),
                port.entry.eq(entries[unit]),
                port.program.eq(self.program),
                scheduler.done[unit.value].eq(port.done),
            ]
        m.d.comb += [
            store.pc.eq(scheduler.fetch.pc),
            scheduler.fetched.eq(store.summary),
            scheduler.can_fetch.eq(store.loaded),
            scheduler.ready.eq(~0),
            scheduler.ready[Unit.TEXTURE.value].eq(self._texture.ready),
            scheduler.room.eq(Cat(self._alu.ready_direct, self._uncached.ready)),
            scheduler.wake.eq(~self._loader.busy),
            scheduler.blocked.eq(self._outstanding.blocked),
            scheduler.full.eq(self._outstanding.full),
            scheduler.quiet.eq(self._outstanding.quiet),
            self._flow.expired.eq(scheduler.expired),
            self._flow.refused.eq(store.refused),
        ]
        self._read_state(m, _ALU, self._alu.slot, self._alu.group)
        self._read_state(m, _TEXTURE, self._texture.slot, self._texture.group)
        self._read_state(m, _FLOW, self._flow.slot, self._flow.group)
        m.d.comb += [
            self._states.stacks_slot.eq(self._flow.slot),
            self._flow.stacks.eq(self._states.stacks),
            *(self._states.control[name].eq(self._flow.control[name]) for name in ("valid", "slot")),
            *(
                part[name].eq(self._flow.control.state[name])
                for part in (self._states.control.control, self._states.control.stacks)
                for name, _ in part.shape()
            ),
            self._states.live.eq(self._texture.live),
            self._states.flags.eq(self._alu.flags),
            self._alu.second.eq(scheduler.second.bit_select(self._alu.slot, 1)),
            scheduler.ending.eq(self._alu.ending),
            self._alu.leaves.eq(scheduler.leaves),
        ]

    def _read_state(self, m: Module, reader: int, slot: Value, group: data.View) -> None:
        m.d.comb += [self._states.slots[reader].eq(slot), group.eq(self._states.groups[reader])]

    def _connect_alu(self, m: Module) -> None:
        """Registers of the ALU, and uncached writes."""
        alu, registers, uncached = self._alu, self._registers, self._uncached
        connect(m, uncached.write, flipped(self.uncached.write))
        outstanding = self._outstanding
        m.d.comb += [
            registers.source_places.eq(alu.source_places),
            alu.temporaries.eq(registers.sources),
            registers.result_places.eq(alu.result_places),
            registers.results.eq(alu.results),
            registers.result_enable.eq(alu.result_enable),
            self._outputs.write.eq(alu.outputs),
            self._pairs.limits.eq(self.program.output),
            self._pairs.result.eq(alu.uncached),
            uncached.announced.eq(alu.announced),
            uncached.result.eq(self._pairs.write),
            outstanding.write.eq(alu.acquiring),
            self.uncached.done.ready.eq(1),
            outstanding.written.valid.eq(self.uncached.done.valid),
            outstanding.written.slot.eq(self.uncached.done.payload.slot),
        ]

    def _connect_texture(self, m: Module) -> None:
        """Lookups on their way to memory and back."""
        texture, coordinates, lookups = self._texture, self._coordinates, self._lookups
        request, result = self.lookups.request, coordinates.result
        connect(m, texture.request, coordinates.request)
        connect(m, flipped(self.lookups.response), lookups.response)
        m.d.comb += [
            self._registers.texture_source.eq(texture.source),
            texture.words.eq(self._registers.texture_words),
            self._outstanding.texture.eq(texture.asked),
            texture.lookup_entry.eq(self._outstanding.entry),
            lookups.record.eq(texture.record),
            self._outstanding.returned.eq(lookups.returned),
            request.valid.eq(result.valid),
            result.ready.eq(request.ready),
            request.payload.x.eq(result.payload.x),
            request.payload.y.eq(result.payload.y),
            *(request.payload[name].eq(result.payload.passenger[name]) for name, _ in result.payload.passenger.shape()),
        ]

    def _connect_register_writes(self, m: Module) -> None:
        """New groups' temporaries are set before lookups write theirs, which come so often that a group might wait."""
        lookup, clear, write = self._lookups.write, self._starter.write, self._registers.texture_write
        places = [
            Placement(m, self._config.array, port.payload.slot, self._allocation).place(port.payload.register)
            for port in (lookup, clear)
        ]
        clears = Signal()
        m.d.comb += [
            clears.eq(clear.valid & ~self._registers.busy.bit_select(places[1].bank, 1)),
            clear.ready.eq(clears),
            lookup.ready.eq(write.ready & ~clears),
            write.valid.eq(lookup.valid | clears),
        ]
        with m.If(clears):
            m.d.comb += [
                write.payload.place.eq(places[1]),
                write.payload.words.eq(clear.payload.words),
                Value.cast(write.payload.enable).eq(~0),
                write.payload.forgets.eq(1),
            ]
        with m.Else():
            m.d.comb += [
                write.payload.place.eq(places[0]),
                write.payload.words.eq(lookup.payload.words),
                write.payload.enable.eq(lookup.payload.enable),
            ]

    def _connect_end(self, m: Module) -> None:
        """Groups that are at their end."""
        scheduler, retirement, outputs = self._scheduler, self._retirement, self._outputs
        connect(m, retirement.tester, flipped(self.tests))
        connect(m, retirement.output, flipped(self.output))
        states = self._states
        m.d.comb += [
            states.ended_rows[_OUTPUT].eq(retirement.row),
            states.ended_rows[_TEST].eq(retirement.test_row),
            retirement.state.eq(states.ended[_OUTPUT]),
            retirement.test_state.eq(states.ended[_TEST]),
            retirement.program.eq(self.program),
            scheduler.can_retire.eq(retirement.ready),
            retirement.group.eq(scheduler.retire),
            retirement.left.eq(self._alu.left),
            outputs.row.eq(retirement.row),
            outputs.target.eq(retirement.target),
            outputs.conditional_row.eq(retirement.test_row),
            retirement.words.eq(outputs.words),
            retirement.written.eq(outputs.written),
            retirement.conditional.eq(outputs.conditional),
            retirement.conditional_written.eq(outputs.conditional_written),
            scheduler.release.valid.eq(retirement.release.valid),
            scheduler.release.row.eq(retirement.release.row),
            self.stalls.eq(scheduler.stalls),
            self.idle.eq(~scheduler.rows.any() & self._uncached.empty & ~self._store.loading & ~self._loader.busy),
        ]
        ports = {
            Unit.ALU: (self._alu.started, self._alu.group),
            Unit.TEXTURE: (self._texture.asked.valid, self._texture.group),
            Unit.FLOW: (self._flow.started, self._flow.group),
        }
        for unit, (executes, group) in ports.items():
            m.d.sync += [
                self.issued[unit.value].eq(executes),
                self.active_lanes[unit.value].eq(Mux(executes, sum(group.active), 0)),
            ]

    def _connect_faults(self, m: Module) -> None:
        """The fault that is reported, and groups that lookups stop."""
        lookups, report, slot = self._lookups, self.fault, Signal(slot_bits(self._config.array))
        stopped = self._scheduler.stop
        m.d.comb += [
            stopped.valid.eq(lookups.refused.valid),
            stopped.slot.eq(lookups.returned.slot),
            self._states.slots[_FAULT].eq(slot),
            report.payload.i.eq(self._states.groups[_FAULT].i),
            report.payload.j.eq(self._states.groups[_FAULT].j),
            report.payload.status.eq(Status.BUS_ERROR),
        ]
        flow, alu = self._flow, self._alu
        with m.If(flow.done.valid & flow.done.faults & ~flow.done.again):
            m.d.comb += [
                report.valid.eq(1),
                slot.eq(flow.done.slot),
                report.payload.pc.eq(flow.pc),
                report.payload.status.eq(flow.fault.status),
                report.payload.client.eq(flow.fault.client),
            ]
        with m.Elif(alu.done.valid & alu.done.faults & ~alu.done.again):
            m.d.comb += [
                report.valid.eq(1),
                slot.eq(alu.done.slot),
                report.payload.pc.eq(alu.done.pc - 1),
                report.payload.client.eq(BusClient.FLOAT_CONSTANT),
            ]
        with m.Elif(lookups.refused.valid):
            m.d.comb += [
                report.valid.eq(1),
                slot.eq(stopped.slot),
                report.payload.pc.eq(lookups.refused.pc),
                report.payload.client.eq(BusClient.INPUT),
            ]
        self._fault_slot = slot

    def _connect_trace(self, m: Module) -> None:
        trace, alu, texture, flow = self.trace, self._alu, self._texture, self._flow
        clear, lookup = self._starter.write, self._lookups.write

        def row(slot: Value) -> Value:
            return Cat(slot, self._scheduler.second.bit_select(slot, 1))

        events: dict[str, dict[str, Value]] = {
            "start": {name: self._states.start[name] for name in ("valid", "row", "group")},
            "clear": {
                "valid": clear.valid & clear.ready, "row": row(clear.payload.slot),
                **{name: clear.payload[name] for name in ("register", "words")},
            },
            "alu": {
                "valid": alu.written.valid, "row": alu.written.row, "pc": alu.written.pc,
                "rgb_register": alu.written.rgb_register, "alpha_register": alu.written.alpha_register,
                "words": alu.results, "enable": alu.written.enable,
                "predicates": alu.flags.flags.predicates, "alu_result": alu.flags.flags.alu_result,
            },
            "texture": {
                "valid": texture.done.valid, "row": row(texture.done.slot), "pc": texture.done.pc - 1,
                "live": texture.live.live,
            },
            "lookup": {
                "valid": lookup.valid & lookup.ready, "row": row(lookup.payload.slot),
                **{name: lookup.payload[name] for name in ("register", "words", "enable")},
            },
            "flow": {
                "valid": flow.control.valid, "row": row(flow.control.slot), "pc": flow.pc,
                "state": flow.control.state,
            },
            "fault": {"valid": self.fault.valid, "row": row(self._fault_slot), "pc": self.fault.payload.pc},
            "end": {name: self._retirement.release[name] for name in ("valid", "row", "faulted")},
        }  # fmt: skip
        for event, fields in events.items():
            m.d.comb += [trace[event][name].eq(value) for name, value in fields.items()]
