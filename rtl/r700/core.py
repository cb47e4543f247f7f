"""A core: runs wavefronts through a program of the R700 instruction set.

docs/architecture.md has the picture.
"""

from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.constants.loader import ConstantLoader
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.core_parts import connect_retirement
from ctm.rtl.dpp.groups.retirement import Retirement
from ctm.rtl.dpp.groups.scheduling import STALLS
from ctm.rtl.dpp.registers.outputs import OutputRegisters
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import recently
from ctm.rtl.lib.set_clear_flags import SetClearFlags
from ctm.rtl.r700.alu.constants import FloatConstants
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.unit import AluUnit
from ctm.rtl.r700.code.cache import CodeCache
from ctm.rtl.r700.finish import WavefrontEnd
from ctm.rtl.r700.flow.unit import FLOW_LINES, FlowUnit
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.memory.unit import FetchUnit
from ctm.rtl.r700.occupancy import Occupancy
from ctm.rtl.r700.passes import by_part, part_row
from ctm.rtl.r700.registers.file import RegisterFile, taken
from ctm.rtl.r700.registers.write_assembler import WriteAssembler
from ctm.rtl.r700.shapes import SHAPES, Unit
from ctm.rtl.r700.start import WavefrontStart
from ctm.rtl.r700.trace import trace_layout

_GROUPS, _OTHERS = range(2)
"""Readers of the code cache: ALU groups; CF words and fetches, of which the first come first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The parts, submodules of the core by the same names."""

    start: WavefrontStart
    flow: FlowUnit
    alu: AluUnit
    move: FetchUnit
    end: WavefrontEnd
    joining: WriteAssembler
    registers: RegisterFile
    code: CodeCache
    loader: ConstantLoader
    constants: FloatConstants
    outputs: OutputRegisters
    retirement: Retirement


class Core(wiring.Component):
    """One core of the array.

    Members
    -------
    program and so on
        See `core_members`.
    trace : ``Out(trace_layout(config))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        super().__init__({**core_members(config.array, SHAPES), "trace": Out(trace_layout(config.array))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, array = self._config, self._config.array
        rows = by_part(array)
        parts = Parts(
            start=WavefrontStart(array),
            flow=FlowUnit(array),
            alu=AluUnit(config),
            move=FetchUnit(config),
            end=WavefrontEnd(array),
            joining=WriteAssembler(array),
            registers=RegisterFile(array),
            code=CodeCache(),
            loader=ConstantLoader(CONSTANT_PAIRS, FLOW_LINES),
            constants=FloatConstants(),
            outputs=OutputRegisters(rows, SHAPES),
            retirement=Retirement(rows, SHAPES),
        )
        for name, part in vars(parts).items():
            m.submodules[name] = part
        programmed: tuple[Any, ...] = (parts.start, parts.flow, parts.alu, parts.move)
        m.d.comb += [part.program.eq(self.program) for part in programmed]
        occupied = self._connect_starts(m, parts)
        self._connect_units(m, parts)
        self._connect_code(m, parts)
        self._connect_constants(m, parts)
        self._connect_registers(m, parts)
        self._connect_ends(m, parts)
        self._count(m, parts, occupied)
        self._show(m, parts)
        return m

    def _connect_starts(self, m: Module, parts: Parts) -> Signal:
        """Wavefronts that come in, and the slots that they take."""
        array = self._config.array
        flags = SetClearFlags(array.threads, ("occupied",))
        m.submodules.residents = residents = Occupancy(array)
        free = Signal(array.threads)
        m.d.comb += [residents.program.eq(self.program), free.eq(residents.usable & ~flags["occupied"])]
        chosen, offered = lowest_one(free), Signal()
        # What slots there are is known a cycle behind the program, which is there with its first wavefront.
        m.d.sync += offered.eq(self.group.valid)
        takes = self.group.valid & self.group.ready
        m.d.comb += [
            self.free.eq(Mux(sum(free) > CORE_CREDITS, CORE_CREDITS, sum(free))),
            self.group.ready.eq(free.any() & ~parts.start.busy & offered),
        ]
        for target in (parts.start.group, parts.end.group):
            m.d.comb += [
                target.valid.eq(takes),
                target.slot.eq(one_hot_index(chosen)),
                target.group.eq(self.group.payload),
            ]
        flags.set("occupied", Mux(takes, chosen, 0))
        flags.clear("occupied", Mux(parts.end.free.valid, (1 << parts.end.free.slot)[: array.threads], 0))
        flags.finish(m)
        fresh = parts.start.fresh
        m.d.comb += [
            parts.outputs.start.valid.eq(fresh.valid),
            parts.outputs.start.row.eq(part_row(array, fresh.number, fresh.slot)),
        ]
        return flags["occupied"]

    def _connect_units(self, m: Module, parts: Parts) -> None:
        """What a wavefront goes through."""
        connect(m, parts.start.start, parts.flow.start)
        connect(m, parts.start.share, parts.move.share)
        connect(m, parts.flow.clause, parts.alu.clause)
        connect(m, parts.flow.move, parts.move.move)
        connect(m, parts.alu.outcome, parts.flow.computed)
        connect(m, parts.move.moved, parts.flow.moved)
        connect(m, parts.flow.end, parts.end.end)
        connect(m, parts.move.lookups, flipped(self.lookups))
        connect(m, parts.move.uncached, flipped(self.uncached))
        m.d.comb += [parts.outputs.write.eq(parts.move.outputs), parts.move.numbered.eq(parts.start.numbered)]

    def _connect_code(self, m: Module, parts: Parts) -> None:
        code, flow, move = parts.code, parts.flow, parts.move
        connect(m, code.lines, flipped(self.code))
        m.d.comb += [
            code.address.eq(self.program.code),
            code.size.eq(self.program.size),
            code.forget.eq(self.forget_code),
            code.rows[_GROUPS].eq(parts.alu.code_row),
            code.reads[_GROUPS].eq(parts.alu.code_reads),
            parts.alu.code_found.eq(code.found[_GROUPS]),
            code.rows[_OTHERS].eq(Mux(flow.code_reads, flow.code_row, move.code_row)),
            code.reads[_OTHERS].eq(flow.code_reads | move.code_reads),
            move.code_free.eq(~flow.code_reads),
            flow.code_found.eq(code.found[_OTHERS]),
            move.code_found.eq(code.found[_OTHERS]),
        ]

    def _connect_constants(self, m: Module, parts: Parts) -> None:
        loader, alu, flow, move, constants = parts.loader, parts.alu, parts.flow, parts.move, parts.constants
        connect(m, loader.client, flipped(self.constants))
        m.d.comb += [
            loader.forget.eq(self.forget_constants),
            loader.alu.eq(Mux(alu.miss.valid, Value.cast(alu.miss), Value.cast(move.miss))),
            loader.flow.eq(flow.miss),
            alu.loaded.eq(loader.float_loaded),
            alu.error.eq(constants.error),
            alu.loading.eq(loader.busy),
            flow.int_loaded.eq(loader.int_loaded),
            flow.bool_loaded.eq(loader.bool_loaded),
            flow.constant_write.eq(loader.write),
            constants.write.eq(loader.write),
            constants.row.eq(Mux(alu.constant_free, move.constant, alu.constant)),
            alu.constant_words.eq(constants.words),
            move.constant_free.eq(alu.constant_free),
            move.constant_words.eq(constants.words),
            move.loaded.eq(loader.float_loaded),
            move.error.eq(constants.error),
        ]

    def _connect_registers(self, m: Module, parts: Parts) -> None:
        """Reads and writes of others in cycles in which the ALU has none; new wavefronts come first."""
        registers, alu, move, clear, place = (
            parts.registers, parts.alu, parts.move, parts.start.clear, parts.start.place
        )  # fmt: skip
        joining, written = parts.joining, Signal()
        write, file = joining.write, joining.file
        m.d.comb += [
            registers.writes.eq(alu.file_writes),
            alu.file_words.eq(registers.words),
            alu.file_shows.eq(registers.shows),
            move.words.eq(registers.words),
            move.shows.eq(registers.shows),
            move.read.ready.eq(alu.reads_free),
            move.late.eq(joining.late | written),
            joining.error.eq(move.refuses),
            write.valid.eq(place.valid | move.write.valid),
            Value.cast(write.payload).eq(Mux(place.valid, Value.cast(place.payload), Value.cast(move.write.payload))),
            place.ready.eq(write.ready),
            move.write.ready.eq(write.ready & ~place.valid),
            clear.ready.eq(alu.writes_free),
            file.ready.eq(alu.writes_free & ~clear.valid),
        ]
        clears, writes = clear.valid & clear.ready, file.valid & file.ready
        m.d.sync += [written.eq(writes), registers.invalidates.eq(Mux(clears, clear.payload.invalidates, 0))]
        for channel in range(CHANNELS):
            target, others = alu.file_others[channel], file.payload[channel]
            enable = Mux(writes, others.enable, 0)
            m.d.comb += registers.reads[channel].eq(Mux(alu.reads_free, move.read.payload, alu.file_reads[channel]))
            m.d.sync += [
                target.row.eq(Mux(clears, clear.payload.row, others.row)),
                target.enable.eq(enable | clears.replicate(len(target.enable))),
                *taken(Value.cast(target.words), Value.cast(others.words), enable),
            ]

    def _connect_ends(self, m: Module, parts: Parts) -> None:
        end, retirement = parts.end, parts.retirement
        connect_retirement(
            m, self, by_part(self._config.array), retirement, parts.outputs, rows=end.rows, states=end.states
        )
        m.d.comb += [
            retirement.group.eq(end.retire),
            end.can_retire.eq(retirement.ready),
            end.released.eq(retirement.release),
        ]
        # No output of a core follows from what is only there late in a cycle.
        m.d.sync += [self.fault.valid.eq(end.fault.valid), self.fault.payload.eq(end.fault.payload)]

    def _count(self, m: Module, parts: Parts, occupied: Signal) -> None:
        """What is executed, and whether there is anything to do."""
        m.d.comb += self.idle.eq(
            ~occupied.any() & ~self.fault.valid & ~parts.code.busy & ~parts.loader.busy & ~parts.move.busy
        )
        units = {Unit.FLOW: parts.flow, Unit.ALU: parts.alu, Unit.FETCH: parts.move}
        for unit, part in units.items():
            m.d.sync += [
                self.issued[unit.value].eq(part.issued),
                self.active_lanes[unit.value].eq(Mux(part.issued, sum(part.active), 0)),
            ]
        # A group takes the lanes for as many cycles as an interval has.
        interval = intervals_of(self._config.array, lane_latency(self._config.arithmetic)).interval
        busy = recently(m, self.issued[Unit.ALU.value], interval - 1)
        causes = Signal(len(STALLS))
        found = self._causes(m, parts)
        m.d.comb += [
            causes.eq(Cat(found[name] for name in STALLS)),
            self.stalls.eq(Mux(occupied.any() & ~busy, lowest_one(causes), 0)),
        ]

    def _causes(self, m: Module, parts: Parts) -> dict[str, Value]:
        """Why no group is issued: where wavefronts are, and what is on its way to them."""
        clause, outcome, move = parts.flow.clause, parts.alu.outcome, parts.move
        clauses, blocked = Signal(range(self._config.array.threads + 1)), Signal()
        m.d.sync += [
            clauses.eq(clauses + (clause.valid & clause.ready) - (outcome.valid & outcome.ready)),
            # Behind a register, because no output of a core follows from an input.
            blocked.eq(Cat(each.valid & ~each.ready for each in (move.lookups.request, move.uncached.write)).any()),
        ]
        return {
            "LOOKUPS": move.waits,
            "LOADING": parts.loader.busy | parts.code.busy,
            "REQUESTS": blocked,
            "LATENCY": clauses.any() | parts.flow.busy | move.busy,
            "ENDS": Const(1),
        }

    def _show(self, m: Module, parts: Parts) -> None:
        """Show the events of the trace."""
        file, take, start, end = self.trace.file, self.trace.take, self.trace.start, self.trace.end
        writes, started, ended = parts.registers.writes, parts.start.start, parts.flow.end
        m.d.comb += [
            file.valid.eq(Cat(writes[channel].enable for channel in range(CHANNELS)).any()),
            file.writes.eq(writes),
            file.invalidates.eq(parts.registers.invalidates),
            Value.cast(take).eq(Value.cast(parts.start.group)),
            start.valid.eq(started.valid & started.ready),
            start.slot.eq(started.payload.slot),
            start.base.eq(started.payload.base),
            end.valid.eq(ended.valid & ended.ready),
            *(end[name].eq(ended.payload[name]) for name in ("slot", "valid_mask", "word", "problem")),
            self.trace.fetch.eq(parts.move.trace),
        ]
        for unit in (parts.flow.trace, parts.alu.trace):
            m.d.comb += [self.trace[name].eq(unit[name]) for name in dict(unit.shape())]
