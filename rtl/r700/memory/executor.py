"""Executes the micro-ops of fetch clauses and exports, state by state.

Source: R700-Family Instruction Set Architecture, chapter 5 and section 3.4; docs/design/r700-core.md.
"""

from dataclasses import replace
from itertools import chain
from typing import Any

from amaranth import Array, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import connect, flipped

from ctm.rtl.border.buffers import EXTENT
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.memory.scoreboard import Scoreboard
from ctm.rtl.dpp.program import described
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.set_clear_flags import SetClearFlags
from ctm.rtl.lib.views import record
from ctm.rtl.r700.memory.areas import AreaAddresses
from ctm.rtl.r700.memory.constants import ConstantFetch
from ctm.rtl.r700.memory.exports import add_export
from ctm.rtl.r700.memory.instruction import Task, is_among
from ctm.rtl.r700.memory.linear import LinearCoordinates
from ctm.rtl.r700.memory.returned import INSTRUCTION_BITS, FetchReturn, instruction_in
from ctm.rtl.r700.memory.scaling import CoordinateScaling
from ctm.rtl.r700.memory.selection import PixelSelection
from ctm.rtl.r700.memory.sending import add_send
from ctm.rtl.r700.memory.sequencer import FetchSequencer
from ctm.rtl.r700.memory.share import LocalShare
from ctm.rtl.r700.memory.thread_items import add_items, connect_items
from ctm.rtl.r700.memory.vectors import add_vertices, connect_vertices
from ctm.rtl.r700.memory.work import work_layout
from ctm.rtl.r700.memory.writing import add_areas, connect_areas
from ctm.rtl.r700.passes import pass_bits, passes_of
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.registers.addressing import register_address
from ctm.rtl.r700.registers.file import masked, slice_words
from ctm.rtl.r700.registers.writing import pass_write_layout
from ctm.rtl.r700.shapes import AREA_WORD_BITS, UNIT_ADDRESS_BITS
from ctm.rtl.r700.slices import by_slice


class FetchExecutor:
    """The logic of the fetch unit: the current micro-op, and a state machine.

    A micro-op is of one slice of a wavefront, which its units take as a wavefront: `config` is that of an array of
    these.

    `done` is high in the last cycle of a micro-op. In the state "send", which most micro-ops end in, the next one may
    begin in the following cycle; after other states it begins after a cycle in the state "ready".
    """

    def __init__(self, m: Module, unit: Any, config: MachineConfig) -> None:
        array = by_slice(config.array)
        self.m, self.unit, self.machine, self.config = m, unit, replace(config, array=array), array
        self.whole, self.draws, self.geometry = config.array, config.pipeline.draws, config.pipeline.has_geometry
        self.passes = passes_of(array)
        self.work: Any = Signal(work_layout(self.whole), name="work", reset_less=True)
        self.slice = Value.cast(self.work.slice)
        self.current, self.fetch, self.burst = self.work.move, self.work.fetch, self.work.burst
        self.extent = record(EXTENT, name="extent", reset_less=True)
        self.described = described(self.extent)
        """The input of the fetch."""
        self.pass_number = Signal(pass_bits(array))
        self.component = Signal(range(CHANNELS + 1))
        self.source: Any = Signal(data.ArrayLayout(slice_words(array), CHANNELS), name="source", reset_less=True)
        self.selection = PixelSelection(array)
        """The selected pixels of the source: passes, or a pixel in states that call `look_at`."""
        self.done, self.sends_on = Signal(), Signal()
        self.drained = Signal(array.threads)
        """Wave slots whose fetches have all written the registers."""
        self.gprs = delay(m, unit.program.gprs, name="gprs")
        self.sequence, self.outstanding = FetchSequencer(self.whole, draws=self.draws), Scoreboard(array)
        self.scaling, self.share = CoordinateScaling(self.machine), LocalShare(self.whole)
        self.linear, self.areas = LinearCoordinates(array), AreaAddresses(array)
        self.returned, self.constants = FetchReturn(array, draws=self.draws), ConstantFetch(array)
        self.first_numbers = DistributedRam(AREA_WORD_BITS, array.threads)
        self.budgets, self.problems = DistributedRam(WORD_BITS, array.threads), DistributedRam(PROBLEM, array.threads)
        self.error_addresses = DistributedRam(PROBLEM["address"].shape, array.threads)
        self.firsts = DistributedRam(UNIT_ADDRESS_BITS, array.threads)
        """The address of the first instruction of each wave slot's clause."""
        self.flags = SetClearFlags(array.threads, ("draining", "stopped", "error"))
        self.executing = self.of_pass(self.current.executing)
        self.direct = stream.Signature(pass_write_layout(array)).create()
        """Writes of registers that are no response."""

    def build(self) -> Module:
        """Build the logic."""
        m, unit = self.m, self.unit
        m.submodules.sequence, m.submodules.outstanding = self.sequence, self.outstanding
        m.submodules.scaling = Gated(self.scaling, self.scaling.start | self.scaling.stores)
        m.submodules.share = Gated(self.share, self.share.start | self.share.clear.valid)
        m.submodules.linear = Gated(self.linear, self.linear.start)
        m.submodules.areas = Gated(self.areas, self.areas.start)
        for name in ("first_numbers", "returned", "constants", "budgets", "problems", "error_addresses", "firsts"):
            m.submodules[name] = getattr(self, name)
        self.firsts.write(m, self.sequence.begins.wave, self.sequence.begins.address, self.sequence.begins.valid)
        connect(m, flipped(unit.fetches.response), self.returned.response)
        m.d.comb += [
            self.outstanding.returned.eq(self.returned.returned),
            self.drained.eq(Mux(unit.in_flight, 0, self.outstanding.drained)),
            unit.uncached.done.ready.eq(1),
        ]
        m.d.sync += [
            self.outstanding.written.valid.eq(unit.uncached.done.valid),
            self.outstanding.written.wave.eq(unit.uncached.done.payload.wave),
        ]
        self._select()
        for reader in (self.constants, self.share, self.areas):
            self.store(reader)
        if self.draws:
            connect_vertices(self)
        if self.geometry:
            connect_items(self)
        self._share_writes()
        self._connect_sequence()
        written = connect_areas(self)
        with m.FSM() as fsm:
            self._ready()
            self._scale()
            self._fetch_constants()
            self._share()
            add_areas(self, *written)
            add_send(self)
            add_export(self)
            if self.draws:
                add_vertices(self)
            if self.geometry:
                add_items(self)
        works = ~fsm.ongoing("ready")
        m.d.comb += [
            self.sequence.works.eq(works),
            unit.waits.eq(self.flags["draining"].any()),
            unit.busy.eq(self.sequence.busy | self.flags["draining"].any() | works),
        ]
        self._end_clauses()
        self._drain()
        self.flags.finish(m)
        return m

    def of_pass(self, value: Any) -> Value:
        """The lanes' bits of a bit of each pixel, in the pass `pass_number`."""
        bits = Value.cast(value)
        return bits if self.passes == 1 else bits.word_select(self.pass_number, self.config.at_once)

    def _select(self) -> None:
        """Connect the units to the selected pixels."""
        m, selection, scaling = self.m, self.selection, self.scaling
        m.submodules.selection = selection
        m.d.comb += [
            selection.source.eq(self.source),
            selection.pass_number.eq(self.pass_number),
            scaling.pass_number.eq(self.pass_number),
            scaling.own.eq(selection.own),
            scaling.quad.eq(selection.quad),
            self.share.own.eq(selection.own),
            self.share.quad_written.eq(selection.quad_written),
            self.constants.own.eq(selection.own),
        ]

    def look_at(self, pixel: Value) -> None:
        """Select a pixel of the source in this state."""
        self.m.d.comb += [self.selection.by_pixel.eq(1), self.selection.pixel.eq(pixel)]

    def look_at_result(self, pixel: Value) -> None:
        """Select a pixel of the source, and the results of its pass."""
        self.look_at(pixel)
        self.m.d.comb += self.scaling.pass_number.eq(pixel >> (self.config.at_once - 1).bit_length())

    def register_address(self, number: Value, relative: Value) -> Any:
        """The address of a register of the wavefront."""
        current = self.current
        return register_address(
            self.m, self.config, number, current.loop_index, relative, gprs=self.gprs, base=current.base
        )

    def _connect_sequence(self) -> None:
        """Connect the sequencer; a micro-op is taken with the words of its source."""
        m, unit, sequence = self.m, self.unit, self.sequence
        connect(m, flipped(unit.move), sequence.move)
        connect(m, sequence.read, flipped(unit.read))
        for name in ("code_row", "code_reads", "issued", "active", "trace"):
            m.d.comb += getattr(unit, name).eq(getattr(sequence, name))
        for name in ("program", "code_free", "code_found"):
            m.d.comb += getattr(sequence, name).eq(getattr(unit, name))
        m.d.comb += sequence.drained.eq(self.drained)
        offered = sequence.work.payload
        with m.If(sequence.work.valid & sequence.work.ready):
            m.d.sync += [self.work.eq(offered), self.pass_number.eq(0), self.component.eq(0)]
            m.d.sync += Value.cast(self.extent).eq(Array(map(Value.cast, unit.program.inputs))[offered.fetch.input])
            with m.If(~offered.keeps):
                m.d.sync += [
                    self.source[channel].eq(masked(unit.words[channel], unit.words_valid[channel]))
                    for channel in range(CHANNELS)
                ]

    def _share_writes(self) -> None:
        """Responses have priority, so that they are never blocked."""
        m, write, responses = self.m, self.unit.write, self.returned.write
        m.d.comb += [
            write.valid.eq(responses.valid | self.direct.valid),
            write.payload.eq(Mux(responses.valid, Value.cast(responses.payload), Value.cast(self.direct.payload))),
            responses.ready.eq(write.ready),
            self.direct.ready.eq(write.ready & ~responses.valid),
        ]

    def _end_clauses(self) -> None:
        """Record clauses and exports that end, by their last micro-op or by a problem."""
        m, current, sequence = self.m, self.current, self.sequence
        stops = ~self._is_fine()
        ends = self.done & (self.work.ends | stops)
        # A fetch with an error response belongs to an earlier instruction.
        is_first = ends & stops & ~self._has_problem(current.wave)
        self.budgets.write(m, current.wave, current.budget, ends)
        self.problems.write(m, current.wave, self.work.problem, is_first)
        self.flags.set("stopped", self._waves(current.wave, is_first))
        for name in ("stopped", "error"):
            self.flags.clear(name, self._waves(sequence.begins.wave, sequence.begins.valid))
        self.flags.set("draining", self._waves(current.wave, ends))

    def _waves(self, wave: Value, happens: Value) -> Value:
        """The bit of a wave slot, while the condition holds."""
        return Mux(happens, (1 << wave)[: self.config.threads], 0)

    def _has_problem(self, wave: Value) -> Value:
        """Keep the first of a wave slot's problems: `problems` that stop it, `error_addresses` of failed fetches."""
        problems = self.flags["stopped"] | self.flags["error"]
        return problems.bit_select(wave, 1)

    def _drain(self) -> None:
        """Return wavefronts whose instructions are all done."""
        m, moved = self.m, self.unit.moved
        done = lowest_one(self.flags["draining"] & self.drained)
        wave = one_hot_index(done)
        m.d.comb += [
            moved.valid.eq(done.any()),
            moved.payload.wave.eq(wave),
            moved.payload.budget.eq(self.budgets.read(m, wave)),
        ]
        problem = moved.payload.problem
        with m.If(self.flags["error"].bit_select(wave, 1)):
            m.d.comb += [
                problem.status.eq(Status.BUS_ERROR),
                problem.client.eq(BusClient.INPUT),
                problem.address.eq(self.error_addresses.read(m, wave)),
            ]
        with m.Elif(self.flags["stopped"].bit_select(wave, 1)):
            m.d.comb += problem.eq(self.problems.read(m, wave))
        self.flags.clear("draining", Mux(moved.ready, done, 0))
        error, returned = self.returned.error, self.returned.returned
        m.d.comb += self.unit.fetch_error.eq(error.valid)
        is_first = error.valid & ~self._has_problem(returned.wave)
        self.error_addresses.write(m, returned.wave, self._error_address(), is_first)
        self.flags.set("error", self._waves(returned.wave, is_first))

    def _error_address(self) -> Value:
        """The address of the instruction whose fetch had an error, the only one of its clause with these low bits."""
        first = self.firsts.read(self.m, self.returned.returned.wave)
        number = (self.returned.error.instruction - instruction_in(first))[:INSTRUCTION_BITS]
        address = Signal(UNIT_ADDRESS_BITS, name="error_address")
        self.m.d.comb += address.eq(first + number * FETCH_UNITS)
        return address

    def _ready(self) -> None:
        """Begin a micro-op."""
        m, offered = self.m, self.sequence.work
        fetch = offered.payload.fetch
        scales = (fetch.task == Task.GRADIENT) | ((fetch.task == Task.SAMPLE) & fetch.normalised.any())
        firsts = {
            "constants": (Task.CONSTANTS,), "divide": (Task.ELEMENT,), "share": (Task.SHARE_READ, Task.SHARE_WRITE),
            "areas": (Task.AREA, Task.ADDRESSES), "export": (Task.EXPORT,), "write": (Task.WRITE,),
        }  # fmt: skip
        if self.draws:
            firsts |= {"vertices": (Task.VERTEX,), "vectors": (Task.VECTOR,)}
        if self.geometry:
            firsts |= {"items": (Task.ITEMS,)}
        others = is_among(fetch.task, (*chain(*firsts.values()), Task.NOTHING))
        m.d.comb += self.sends_on.eq(offered.valid & ~scales & ~others)
        with m.State("ready"):
            m.d.comb += offered.ready.eq(1)
            with m.If(offered.valid):
                m.next = "send"
                with m.If(scales):
                    m.next = "scale"
                for state, tasks in firsts.items():
                    with m.If(is_among(fetch.task, tasks)):
                        m.next = state
                with m.If(fetch.task == Task.NOTHING):
                    m.next = "stop"
        with m.State("stop"):
            # Earlier fetches may stop the clause by another problem.
            with m.If(self.drained.bit_select(self.current.wave, 1) | self._is_fine()):
                self.finish()

    def _is_fine(self) -> Value:
        return Value.cast(self.work.problem.status) == Status.OK.value

    def finish(self) -> None:
        """End the micro-op in this cycle."""
        self.m.d.comb += self.done.eq(1)
        self.m.next = "ready"

    def finish_send(self) -> None:
        """End the micro-op; another one of this state may begin in the next cycle."""
        self.finish()
        with self.m.If(self.sends_on):
            self.m.d.comb += self.sequence.work.ready.eq(1)
            self.m.next = "send"

    def _scale(self) -> None:
        """Compute coordinates, unless the register holds them."""
        m, scaling = self.m, self.scaling
        m.d.comb += [
            scaling.fetch.eq(self.fetch),
            scaling.sizes[0].eq(self.described.pitch),
            scaling.sizes[1].eq(self.described.height),
        ]
        with m.State("scale"):
            m.d.comb += scaling.start.eq(1)
            self.look_at(scaling.wanted)
            with m.If(scaling.done):
                m.next = "send"

    def _fetch_constants(self) -> None:
        """Read elements of the constants."""
        m, unit, constants = self.m, self.unit, self.constants
        m.d.comb += [
            constants.fetch.eq(self.fetch),
            constants.executing.eq(self.current.executing),
            unit.constant.eq(constants.row),
            constants.row_free.eq(unit.constant_free),
            constants.words.eq(unit.constant_words),
            constants.loaded.eq(unit.loaded),
            constants.error.eq(unit.error),
        ]
        m.d.sync += unit.miss.eq(constants.miss)
        problem = self.work.problem
        with m.State("constants"):
            m.d.comb += constants.start.eq(1)
            self.look_at(constants.pixel)
            with m.If(constants.done & constants.is_error):
                m.d.comb += self.sequence.failed.eq(1)
                m.d.sync += [
                    problem.status.eq(Status.BUS_ERROR),
                    problem.client.eq(BusClient.FLOAT_CONSTANT),
                    problem.address.eq(self.current.begin),
                ]
                m.next = "stop"
            with m.Elif(constants.done):
                m.next = "send"

    def store(self, source: Any) -> None:
        """Store a pixel's element of the constants or of the data share, or its element's address."""
        m, scaling = self.m, self.scaling
        with m.If(source.valid):
            m.d.comb += [scaling.stores.eq(1), scaling.pixel.eq(source.pixel), scaling.element.eq(source.element)]

    def _share(self) -> None:
        """Write a register to the local data share, or read it for all pixels."""
        m, unit, current, share = self.m, self.unit, self.current, self.share
        connect(m, flipped(unit.share), share.clear)
        m.d.comb += [
            share.rows.eq(unit.program.share),
            share.wave.eq(current.wave),
            share.fetch.eq(self.fetch),
            share.burst.eq(self.burst),
            share.slice.eq(self.slice),
            share.executing.eq(current.executing),
            share.active.eq(current.active),
        ]
        with m.State("share"):
            m.d.comb += share.start.eq(1)
            self.look_at(share.wanted)
            with m.If(share.done):
                with m.If(self.fetch.task == Task.SHARE_WRITE):
                    self.finish()
                with m.Else():
                    m.next = "send"
