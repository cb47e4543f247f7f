"""How fetch clauses and exports are executed, state by state.

Source: R700-Family Instruction Set Architecture, chapter 5 and section 3.4; docs/architecture.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import connect, flipped

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.memory.outstanding import Outstanding
from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS, TEMPORARIES, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.flags import Flags
from ctm.rtl.lib.table import Table
from ctm.rtl.r700.memory.constants import ConstantFetch
from ctm.rtl.r700.memory.exports import ExportWrite
from ctm.rtl.r700.memory.instruction import FETCH, FetchDecode, Task
from ctm.rtl.r700.memory.linear import LinearPlaces
from ctm.rtl.r700.memory.move import move_layout
from ctm.rtl.r700.memory.returned import LookupReturn, pass_write_layout
from ctm.rtl.r700.memory.scaling import CoordinateScaling
from ctm.rtl.r700.memory.sending import add_send
from ctm.rtl.r700.memory.share import LocalShare
from ctm.rtl.r700.passes import pass_bits, passes_of
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.registers.place import place


class Mover:
    """The unit as it is built: what it holds of the fetch clause or export that it is at, and a state machine."""

    def __init__(self, m: Module, unit: Any, config: MachineConfig) -> None:
        self.m, self.unit, self.machine, self.config = m, unit, config, config.array
        array = config.array
        self.passes = passes_of(array)
        self.current: Any = Signal(move_layout(array), name="current", reset_less=True)
        self.problem: Any = Signal(PROBLEM, name="problem")
        self.pending = Signal(TEMPORARIES)
        self.pass_number = Signal(pass_bits(array))
        self.burst = Signal(4)
        self.source: Any = Signal(
            data.ArrayLayout(data.ArrayLayout(WORD_BITS, array.group), CHANNELS), name="source", reset_less=True
        )
        self.fetch: Any = Signal(FETCH, name="fetch", reset_less=True)

    def build(self) -> Module:
        """Wire it."""
        m, unit, array = self.m, self.unit, self.config
        m.submodules.queue = self.queue = SyncFIFO(width=move_layout(array).size, depth=array.threads)
        m.submodules.decode = self.decode = FetchDecode()
        m.submodules.outstanding = self.outstanding = Outstanding(array)
        m.submodules.scaling = self.scaling = CoordinateScaling(self.machine)
        m.submodules.share = self.share = LocalShare(array)
        m.submodules.linear = self.linear = LinearPlaces(array)
        m.submodules.returned = self.returned = LookupReturn(array)
        self.flags, self.drains = Flags(array.threads, ("draining",)), Signal(array.threads)
        self.flags.set("draining", self.drains)
        m.submodules.lefts = self.lefts = Table(WORD_BITS, array.threads)
        m.submodules.problems = self.problems = Table(PROBLEM, array.threads)
        connect(m, flipped(unit.lookups.response), self.returned.response)
        m.d.comb += [
            unit.move.ready.eq(self.queue.w_rdy),
            self.queue.w_en.eq(unit.move.valid),
            self.queue.w_data.eq(unit.move.payload),
            self.outstanding.returned.eq(self.returned.returned),
            self.decode.program.eq(unit.program),
            self.decode.textures.eq(self.current.textures),
        ]
        self.executing = self.of_pass(self.current.executing, 1)
        self.quiet = self.outstanding.quiet.bit_select(self.current.slot, 1)
        self.direct = stream.Signature(pass_write_layout(array)).create()
        m.submodules.constants = self.constants = ConstantFetch(self.config)
        self._store(self.constants)
        self._store(self.share)
        self._share_writes()
        self._drain()
        with m.FSM() as fsm:
            self._idle()
            self._fetch()
            self._source()
            self._scale()
            self._fetch_constants()
            self._share()
            add_send(self)
            self._export()
        m.d.comb += unit.busy.eq(self.queue.r_rdy | self.flags["draining"].any() | ~fsm.ongoing("idle"))
        self.flags.finish(m)
        return m

    def of_pass(self, value: Any, width: int) -> Value:
        """The lanes' part of a value of all pixels, in the pass `pass_number`."""
        bits = Value.cast(value)
        if self.passes == 1:
            return bits
        return bits.word_select(self.pass_number, self.config.lanes * width)

    def _share_writes(self) -> None:
        """Answers come first, so that they are never held up."""
        m, write, answers = self.m, self.unit.write, self.returned.write
        m.d.comb += [
            write.valid.eq(answers.valid | self.direct.valid),
            write.payload.eq(Mux(answers.valid, Value.cast(answers.payload), Value.cast(self.direct.payload))),
            answers.ready.eq(write.ready),
            self.direct.ready.eq(write.ready & ~answers.valid),
        ]

    def _drain(self) -> None:
        """Give back wavefronts all of whose instructions are done."""
        m, moved = self.m, self.unit.moved
        done = lowest_one(self.flags["draining"] & self.outstanding.quiet)
        slot = one_hot_index(done)
        m.d.comb += [
            moved.valid.eq(done.any()),
            moved.payload.slot.eq(slot),
            moved.payload.left.eq(self.lefts.read(m, slot)),
            moved.payload.problem.eq(self.problems.read(m, slot)),
        ]
        self.flags.clear("draining", Mux(moved.ready, done, 0))
        refused, returned = self.returned.refused, self.returned.returned
        problem: Any = Signal(PROBLEM, name="refusal")
        known = self.problems.read(m, returned.slot)
        m.d.comb += [
            problem.status.eq(Status.BUS_ERROR),
            problem.client.eq(BusClient.INPUT),
            problem.address.eq(refused.address),
        ]
        is_first = Value.cast(known.status) == Status.OK.value
        self.problems.write(m, returned.slot, problem, refused.valid & is_first)

    def _idle(self) -> None:
        m, current = self.m, self.current
        coming = data.View(move_layout(self.config), self.queue.r_data)
        with m.State("idle"):
            m.d.comb += self.queue.r_en.eq(1)
            m.d.sync += [current.eq(coming), self.pending.eq(0), self.burst.eq(0), self.pass_number.eq(0)]
            with m.If(self.queue.r_rdy):
                m.next = "fetch"
                with m.If(coming.exports):
                    m.next = "source"
        self.problems.write(m, coming.slot, 0, self.queue.r_rdy & self.queue.r_en)
        with m.State("finish"):
            self.lefts.write(m, current.slot, current.left, Const(1))
            stops = Value.cast(self.problem.status) != Status.OK.value
            # A lookup that was refused belongs to an earlier instruction.
            known = Value.cast(self.problems.read(m, current.slot).status) != Status.OK.value
            self.problems.write(m, current.slot, self.problem, stops & self.quiet & ~known)
            with m.If(~stops | self.quiet):
                m.d.comb += self.drains.eq((1 << current.slot)[: self.config.threads])
                m.d.sync += Value.cast(self.problem).eq(0)
                m.next = "idle"

    def _stop(self, status: Status, client: BusClient | None = None) -> None:
        """Stop at the instruction."""
        m = self.m
        m.d.sync += [
            self.problem.status.eq(status),
            self.problem.client.eq(client or 0),
            self.problem.address.eq(self.current.begin),
        ]
        m.next = "finish"

    def _fetch(self) -> None:
        """Read the next instruction of a clause, and decode it."""
        m, unit, current = self.m, self.unit, self.current
        with m.State("fetch"):
            m.d.comb += [unit.code_row.eq(current.begin[1:]), unit.code_reads.eq(1)]
            with m.If(current.begin == current.end):
                m.d.comb += unit.code_reads.eq(0)
                m.next = "finish"
            with m.Elif((unit.program.watchdog != 0) & (current.left == 0)):
                self._stop(Status.WATCHDOG)
            with m.Elif(unit.code_free):
                m.next = "decode"
        with m.State("decode"):
            m.d.comb += self.decode.words.eq(unit.code_found.units)
            m.d.sync += [self.fetch.eq(self.decode.fetch), self.pass_number.eq(0)]
            with m.If(~unit.code_found.hit):
                m.next = "fetch"
            with m.Elif(unit.code_found.refused):
                self._stop(Status.BUS_ERROR, BusClient.INSTRUCTION)
            with m.Else():
                m.d.sync += current.left.eq(current.left - 1)
                m.d.comb += [unit.issued.eq(1), unit.active.eq(current.executing)]
                with m.If(self.decode.fetch.illegal):
                    self._stop(Status.ILLEGAL_INSTRUCTION)
                with m.Elif(self.decode.fetch.task == Task.NOTHING):
                    m.d.sync += current.begin.eq(current.begin + 2)
                    m.next = "fetch"
                with m.Else():
                    m.next = "source"

    def is_lookup(self) -> Value:
        """Whether the fetch reads an input."""
        tasks = Task.SAMPLE, Task.LOAD, Task.ELEMENT
        return Cat(self.fetch.task == task for task in tasks).any()

    def place(self, number: Value, relative: Value) -> Any:
        """Where a register of the wavefront is."""
        current = self.current
        return place(
            self.m, self.config, number, current.loop_index, relative, gprs=self.unit.program.gprs, base=current.base
        )

    def named(self, number: Value, relative: Value) -> Value:
        """The bit of a register among those of `pending`."""
        index = (number + Mux(relative, self.current.loop_index, 0))[:REGISTER_BITS]
        return (1 << index)[:TEMPORARIES]

    def _source(self) -> None:
        """Read the register, behind earlier fetches that write it."""
        m, unit, current, fetch = self.m, self.unit, self.current, self.fetch
        export = data.View(exports.EXPORT_DWORD0, current.unit[:WORD_BITS])
        is_lookup = ~current.exports & self.is_lookup()
        number = (Mux(current.exports, export.rw_gpr, fetch.source) + self.burst)[:8]
        relative = Mux(current.exports, export.rw_rel, fetch.source_relative)
        source = self.named(fetch.source, fetch.source_relative)
        destination = self.named(fetch.destination, fetch.destination_relative)
        own = source | Mux(is_lookup, 0, destination)
        waits = ~current.exports & (self.pending & own).any() & ~self.quiet
        found = self.place(number, relative)
        exists = Signal()
        with m.State("source"):
            m.d.comb += [unit.read.valid.eq(~waits), unit.read.payload.eq(found.row)]
            m.d.sync += exists.eq(found.exists)
            with m.If(unit.read.valid & unit.read.ready):
                m.next = "sourced"
        with m.State("sourced"):
            m.d.sync += Value.cast(self.source).eq(Mux(exists, Value.cast(unit.words), 0))
            m.d.sync += self.pass_number.eq(0)
            with m.If(current.exports):
                m.next = "export"
            with m.Elif((fetch.task == Task.GRADIENT) | ((fetch.task == Task.SAMPLE) & fetch.normalised.any())):
                m.next = "scale"
            with m.Elif(fetch.task == Task.CONSTANTS):
                m.next = "constants"
            with m.Elif(fetch.task == Task.ELEMENT):
                m.next = "divide"
            with m.Elif((fetch.task == Task.SHARE_READ) | (fetch.task == Task.SHARE_WRITE)):
                m.next = "share"
            with m.Else():
                m.next = "send"

    def _scale(self) -> None:
        """Have the coordinates computed that are not what the register holds."""
        m, scaling = self.m, self.scaling
        described = Array(self.unit.program.inputs)[self.fetch.input]
        m.d.comb += [
            scaling.fetch.eq(self.fetch),
            scaling.source.eq(self.source),
            scaling.sizes[0].eq(described.pitch),
            scaling.sizes[1].eq(described.height),
        ]
        with m.State("scale"):
            m.d.comb += scaling.start.eq(1)
            with m.If(scaling.done):
                m.next = "send"

    def _fetch_constants(self) -> None:
        """Have elements of the constants read."""
        m, unit, constants = self.m, self.unit, self.constants
        m.d.comb += [
            constants.fetch.eq(self.fetch),
            constants.source.eq(self.source),
            constants.executing.eq(self.current.executing),
            unit.constant.eq(constants.row),
            constants.row_free.eq(unit.constant_free),
            constants.words.eq(unit.constant_words),
            constants.loaded.eq(unit.loaded),
            constants.refused.eq(unit.refused),
            unit.miss.eq(constants.miss),
        ]
        with m.State("constants"):
            m.d.comb += constants.start.eq(1)
            with m.If(constants.done & constants.is_refused):
                self._stop(Status.BUS_ERROR, BusClient.FLOAT_CONSTANT)
            with m.Elif(constants.done):
                m.next = "send"

    def _store(self, source: Any) -> None:
        """Keep what a pixel gets of the constants or of the data share."""
        m, scaling = self.m, self.scaling
        with m.If(source.valid):
            m.d.comb += [scaling.stores.eq(1), scaling.pixel.eq(source.pixel), scaling.element.eq(source.element)]

    def go_on(self, state: str) -> None:
        """To the next register of the instruction in that state, or to the next instruction."""
        m, current = self.m, self.current
        with m.If(self.burst == self.fetch.burst):
            m.d.sync += [self.burst.eq(0), current.begin.eq(current.begin + 2)]
            m.next = "fetch"
        with m.Else():
            m.d.sync += self.burst.eq(self.burst + 1)
            m.next = state

    def _share(self) -> None:
        """Write a register to the local data share, or have all pixels read it."""
        m, unit, current, share = self.m, self.unit, self.current, self.share
        connect(m, flipped(unit.share), share.clear)
        m.d.comb += [
            share.rows.eq(unit.program.share),
            share.slot.eq(current.slot),
            share.fetch.eq(self.fetch),
            share.burst.eq(self.burst),
            share.source.eq(self.source),
            share.executing.eq(current.executing),
            share.active.eq(current.active),
        ]
        with m.State("share"):
            m.d.comb += share.start.eq(1)
            with m.If(share.done):
                with m.If(self.fetch.task == Task.SHARE_WRITE):
                    self.go_on("source")
                with m.Else():
                    m.next = "send"

    def _export(self) -> None:
        """Write the outputs' registers, or the conditional value, pass by pass."""
        m, unit, current = self.m, self.unit, self.current
        m.submodules.export = export = ExportWrite(self.config)
        bits = (self.passes - 1).bit_length()
        last = data.View(exports.EXPORT_DWORD1_SWIZ, current.unit[WORD_BITS:]).burst_count
        m.d.comb += [
            export.unit.eq(current.unit),
            *(
                Value.cast(export.words[channel]).eq(self.of_pass(self.source[channel], WORD_BITS))
                for channel in range(CHANNELS)
            ),
            export.burst.eq(self.burst),
            export.takes_conditional.eq(unit.program.conditional_from_program),
            unit.outputs.eq(export.write),
            unit.outputs.row.eq(Cat(self.pass_number[:bits], current.slot)),
        ]
        with m.State("export"):
            m.d.comb += export.executing.eq(self.executing)
            m.d.sync += self.pass_number.eq(self.pass_number + 1)
            with m.If(self.pass_number == self.passes - 1):
                m.d.sync += [self.burst.eq(self.burst + 1), self.pass_number.eq(0)]
                with m.If(self.burst == last):
                    m.next = "finish"
                with m.Else():
                    m.next = "source"
