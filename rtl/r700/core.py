"""A core: runs wavefronts through a program of the R700 instruction set.

docs/design/r700-core.md has the picture.
"""

from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out, connect, flipped

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.constants.loader import ConstantLoader
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.core_units import connect_retirement
from ctm.rtl.dpp.program import register_program
from ctm.rtl.dpp.registers.outputs import OutputRegisters
from ctm.rtl.dpp.wavefronts.retirement import Retirement
from ctm.rtl.dpp.wavefronts.scheduling import STALLS
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import recently
from ctm.rtl.lib.set_clear_flags import SetClearFlags
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.constants import FloatConstants
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.unit import AluUnit
from ctm.rtl.r700.code.cache import CodeCache
from ctm.rtl.r700.fetch.unit import FetchUnit
from ctm.rtl.r700.finish import WavefrontEnd
from ctm.rtl.r700.flow.unit import FLOW_LINES, FlowUnit
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.occupancy import Occupancy
from ctm.rtl.r700.partition import Partition, segment_outputs
from ctm.rtl.r700.registers.file import RegisterFile
from ctm.rtl.r700.registers.other_writes import OtherWrites
from ctm.rtl.r700.shading import connect_shading
from ctm.rtl.r700.shapes import PROGRAM, SHAPES, Unit
from ctm.rtl.r700.start import WavefrontStart
from ctm.rtl.r700.trace import trace_layout

_GROUPS, _OTHERS = range(2)
"""Readers of the code cache: ALU groups; CF instructions, and fetches if there are none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """The units of a core; their submodules have the same names."""

    start: WavefrontStart
    flow: FlowUnit
    alu: AluUnit
    fetch: FetchUnit
    end: WavefrontEnd
    other_writes: OtherWrites
    registers: RegisterFile
    code: CodeCache
    loader: ConstantLoader
    constants: FloatConstants
    outputs: OutputRegisters
    retirement: Retirement


class Core(wiring.Component):
    """One core of the array: takes wavefronts one at a time, and executes all that are resident together.

    `WavefrontStart` has the cycles between wavefronts. A resident wavefront is in one unit at a time. Wavefronts
    end in any order. All outputs but those of the trace are registers, or follow from registers and `program`.

    Members
    -------
    program, load, wavefront, free, fault, idle, activity, code, constants, fetches, uncached, output, tests, shading
        As `core_members` has them; `load` is not read, as code is loaded by lines.
    trace : ``Out(trace_layout(array, draws=draws))``
        Events for an observer; without hardware if it is not read.

    `units` are its units, for an observer.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config, array = config, config.array
        outputs = segment_outputs(array)
        self.units = Units(
            start=WavefrontStart(array, config if config.pipeline.draws else None),
            flow=FlowUnit(array, draws=config.pipeline.draws, geometry=config.pipeline.has_geometry),
            alu=AluUnit(config),
            fetch=FetchUnit(config),
            end=WavefrontEnd(array),
            other_writes=OtherWrites(array),
            registers=RegisterFile(array),
            code=CodeCache(),
            loader=ConstantLoader(CONSTANT_PAIRS, FLOW_LINES),
            constants=FloatConstants(),
            outputs=OutputRegisters(outputs, SHAPES),
            retirement=Retirement(outputs, SHAPES),
        )
        self.launched: data.View = record(PROGRAM, name="launched")
        """The program's settings, a cycle after `program` has them."""
        trace = trace_layout(array, draws=config.pipeline.draws)
        super().__init__({**core_members(array, SHAPES, config), "trace": Out(trace)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        register_program(m, self.program.settings, self.launched)
        units = self.units
        for name, unit in vars(units).items():
            m.submodules[name] = unit
        programmed: tuple[wiring.Component, ...] = (units.start, units.flow, units.alu, units.fetch)
        m.d.comb += [unit.program.eq(self.launched) for unit in programmed]
        occupied = self._connect_starts(m, units)
        self._connect_units(m, units)
        self._connect_code(m, units)
        self._connect_constants(m, units)
        self._connect_registers(m, units)
        self._connect_ends(m, units)
        if self._config.pipeline.draws:
            connect_shading(m, self, self._config)
        self._count(m, units, occupied)
        self._show(m, units)
        return m

    def _connect_starts(self, m: Module, units: Units) -> Signal:
        """New wavefronts, and the wave slots that they take."""
        array = self._config.array
        flags = SetClearFlags(array.threads, ("occupied",))
        m.submodules.occupancy = occupancy = Occupancy(array)
        free = Signal(array.threads)
        m.d.comb += [occupancy.program.eq(self.launched), free.eq(occupancy.usable & ~flags["occupied"])]
        chosen, offered = lowest_one(free), Signal()
        # The usable wave slots follow a cycle after the program, which comes with its first wavefront.
        m.d.sync += offered.eq(self.wavefront.valid)
        takes = self.wavefront.valid & self.wavefront.ready
        m.d.comb += [
            self.free.eq(Mux(sum(free) > CORE_CREDITS, CORE_CREDITS, sum(free))),
            self.wavefront.ready.eq(free.any() & ~units.start.busy & offered),
        ]
        for target in (units.start.wavefront, units.end.wavefront):
            m.d.comb += [
                target.valid.eq(takes),
                target.wave.eq(one_hot_index(chosen)),
                *(field.eq(self.wavefront.payload[str(name)]) for name, field in _fields(target.wavefront)),
            ]
        flags.set("occupied", Mux(takes, chosen, 0))
        flags.clear("occupied", Mux(units.end.free.valid, (1 << units.end.free.wave)[: array.threads], 0))
        flags.finish(m)
        fresh, partition = units.start.fresh, Partition.of(array)
        m.d.comb += [
            units.outputs.start.valid.eq(fresh.valid),
            units.outputs.start.context.eq(partition.segment_row(partition.first_pixel(fresh.number), fresh.wave)),
        ]
        return flags["occupied"]

    def _connect_units(self, m: Module, units: Units) -> None:
        """The units that a wavefront passes through."""
        connect(m, units.start.start, units.flow.start)
        connect(m, units.start.fetch, units.fetch.start)
        connect(m, units.flow.alu_clause, units.alu.clause)
        connect(m, units.flow.fetch_clause, units.fetch.clause)
        connect(m, units.alu.outcome, units.flow.alu_outcome)
        connect(m, units.fetch.outcome, units.flow.fetch_outcome)
        connect(m, units.flow.end, units.end.end)
        connect(m, units.fetch.fetches, flipped(self.fetches))
        connect(m, units.fetch.uncached, flipped(self.uncached))
        m.d.comb += units.outputs.write.eq(units.fetch.outputs)

    def _connect_code(self, m: Module, units: Units) -> None:
        """Reads of code. Control flow has priority over fetches at the reader that they share."""
        code, flow, fetch = units.code, units.flow.code, units.fetch.code
        connect(m, code.lines, flipped(self.code))
        connect(m, units.alu.code, code.readers[_GROUPS])
        shared = code.readers[_OTHERS]
        m.d.comb += [
            code.address.eq(self.launched.code),
            code.size.eq(self.launched.size),
            code.invalidate.eq(self.program.invalidate_code),
            shared.row.eq(Mux(flow.reads, flow.row, fetch.row)),
            shared.reads.eq(flow.reads | fetch.reads),
            flow.free.eq(shared.free),
            fetch.free.eq(shared.free & ~flow.reads),
            flow.found.eq(shared.found),
            fetch.found.eq(shared.found),
        ]

    def _connect_constants(self, m: Module, units: Units) -> None:
        """Reads and misses of constants. The ALU has priority over fetches."""
        loader, alu, flow, constants = units.loader, units.alu.constants, units.flow, units.constants
        fetch = units.fetch.constants
        connect(m, loader.client, flipped(self.constants))
        connect(m, flow.constants, loader.flow)
        shape_words = self._shape_words(m, units) if self._config.pipeline.draws else None
        m.d.comb += [
            loader.invalidate.eq(self.program.invalidate_constants),
            Value.cast(loader.alu.miss).eq(Mux(alu.miss.valid, Value.cast(alu.miss), Value.cast(fetch.miss))),
            units.alu.loading.eq(loader.busy),
            constants.write.eq(loader.alu.write),
            constants.row.eq(Mux(units.alu.constant_free, fetch.row, alu.row)),
            alu.words.eq(constants.words if shape_words is None else shape_words),
            fetch.words.eq(constants.words),
            alu.free.eq(1),
            fetch.free.eq(units.alu.constant_free),
        ]
        for port in (alu, fetch):
            m.d.comb += [port.loaded.eq(loader.alu.float_loaded), port.error.eq(constants.error)]

    def _shape_words(self, m: Module, units: Units) -> Value:
        """The constant that the ALU reads: one of the file's, or one of a shape's."""
        of_shape = Signal(name="words_of_shape")
        m.d.sync += of_shape.eq(units.alu.shapes.valid)
        m.d.comb += self.shading.constant.eq(units.alu.shapes.constant)
        return Mux(of_shape, Value.cast(self.shading.words), Value.cast(units.constants.words))

    def _connect_registers(self, m: Module, units: Units) -> None:
        """Reads and writes of other units in cycles in which the ALU has none."""
        registers, alu, others, port = units.registers, units.alu, units.other_writes, units.fetch.registers
        connect(m, units.start.clear, others.clear)
        connect(m, units.start.r0, others.r0)
        connect(m, port.write, others.fetched)
        m.d.comb += [
            registers.writes.eq(alu.registers.writes),
            registers.invalidates.eq(others.invalidates),
            registers.reads.eq(alu.registers.reads),
            registers.other_read.eq(port.read.payload),
            registers.reads_other.eq(alu.reads_free),
            alu.registers.found.words.eq(registers.words),
            alu.registers.found.valid.eq(registers.words_valid),
            alu.registers.others.eq(others.writes),
            port.found.words.eq(registers.words),
            port.found.valid.eq(registers.words_valid),
            port.read.ready.eq(alu.reads_free),
            port.in_flight.eq(others.in_flight),
            others.error.eq(port.error),
            others.free.eq(alu.writes_free),
        ]

    def _connect_ends(self, m: Module, units: Units) -> None:
        """Wavefronts at their end: tests, outputs, faults."""
        end, retirement = units.end, units.retirement
        connect_retirement(m, self, retirement, units.outputs, contexts=end.contexts, states=end.states)
        m.d.comb += [
            retirement.ended.wavefront.eq(end.retire),
            end.can_retire.eq(retirement.ended.ready),
            end.released.eq(retirement.release),
        ]
        # No output of a core depends on a signal that settles late in a cycle.
        m.d.sync += [self.fault.valid.eq(end.fault.valid), self.fault.payload.eq(end.fault.payload)]

    def _count(self, m: Module, units: Units, occupied: Signal) -> None:
        """Instructions that are executed, and whether the core is idle."""
        m.d.comb += self.idle.eq(
            ~occupied.any() & ~self.fault.valid & ~units.code.busy & ~units.loader.busy & ~units.fetch.busy
        )
        issuing = {Unit.FLOW: units.flow, Unit.FETCH: units.fetch}
        for port, unit in issuing.items():
            m.d.sync += [
                self.activity.issued[port.value].eq(unit.issued.valid),
                self.activity.active_lanes[port.value].eq(Mux(unit.issued.valid, sum(unit.issued.active), 0)),
            ]
        m.d.comb += [
            self.activity.issued[Unit.ALU.value].eq(units.alu.counted),
            self.activity.active_lanes[Unit.ALU.value].eq(units.alu.counted_lanes),
        ]
        # A group takes the lanes for as many cycles as an interval has.
        interval = intervals_of(self._config.array, lane_latency(self._config.arithmetic)).interval
        busy = recently(m, self.activity.issued[Unit.ALU.value], interval - 1)
        causes = Signal(len(STALLS))
        found = self._causes(m, units)
        m.d.comb += [
            causes.eq(Cat(found[name] for name in STALLS)),
            self.activity.stalls.eq(Mux(occupied.any() & ~busy, lowest_one(causes), 0)),
        ]

    def _causes(self, m: Module, units: Units) -> dict[str, Value]:
        """The cause of a cycle without an issue: where the wavefronts are, and the responses in flight."""
        clause, outcome, fetch = units.flow.alu_clause, units.alu.outcome, units.fetch
        clauses, blocked = Signal(range(self._config.array.threads + 1)), Signal()
        waits, loading, busy = (Signal(name=name) for name in ("waits", "loading", "busy"))
        m.d.sync += [
            clauses.eq(clauses + (clause.valid & clause.ready) - (outcome.valid & outcome.ready)),
            # Registered, because no output of a core depends on an input of the same cycle.
            blocked.eq(Cat(each.valid & ~each.ready for each in (fetch.fetches.request, fetch.uncached.write)).any()),
            waits.eq(fetch.waits),
            loading.eq(units.loader.busy | units.code.busy),
            busy.eq(units.flow.busy | fetch.busy),
        ]
        return {
            "LOOKUPS": waits,
            "LOADING": loading,
            "REQUESTS": blocked,
            "LATENCY": clauses.any() | busy,
            "ENDS": Const(1),
        }

    def _show(self, m: Module, units: Units) -> None:
        """Drive the events of the trace."""
        file, take, start, end = self.trace.file, self.trace.take, self.trace.start, self.trace.end
        writes, started, ended = units.registers.writes, units.start.start, units.flow.end
        m.d.comb += [
            file.valid.eq(Cat(writes[channel].enable for channel in range(CHANNELS)).any()),
            file.writes.eq(writes),
            file.invalidates.eq(units.registers.invalidates),
            take.valid.eq(units.start.wavefront.valid),
            take.wave.eq(units.start.wavefront.wave),
            *(field.eq(units.start.wavefront.wavefront[str(name)]) for name, field in _fields(take.wavefront)),
            start.valid.eq(started.valid & started.ready),
            start.wave.eq(started.payload.wave),
            start.base.eq(started.payload.base),
            end.valid.eq(ended.valid & ended.ready),
            *(end[name].eq(ended.payload[name]) for name in ("wave", "valid_mask", "pc", "problem")),
            self.trace.fetch.eq(units.fetch.trace),
        ]
        if self._config.pipeline.draws:
            m.d.comb += take.stage.eq(self.launched.stage)
        for unit in (units.flow.trace, units.alu.trace):
            m.d.comb += [self.trace[name].eq(unit[name]) for name in dict(unit.shape())]


def _fields(target: data.View) -> list[tuple[object, data.View | Value]]:
    """The fields of a view."""
    return [(name, target[name]) for name, _ in target.shape()]
