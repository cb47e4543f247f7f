"""Cracks fetch clauses and exports into micro-ops, and reads the source register of each.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4; docs/design/r700-core.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import REGISTER_BITS, TEMPORARIES, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.code import CodePort
from ctm.rtl.r700.border.fetch_clause import fetch_clause_layout, fetch_trace_layout
from ctm.rtl.r700.border.issued import IssuedInstruction
from ctm.rtl.r700.border.registers import register_address_layout, row_bits, rows_of
from ctm.rtl.r700.fetch.decode import FetchDecode
from ctm.rtl.r700.fetch.export_decode import export_access, export_task, writes_memory
from ctm.rtl.r700.fetch.micro_op import begins_layout, micro_op_layout
from ctm.rtl.r700.fetch.operation import FETCH, INPUT_FETCHES, Task, is_among
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.registers.addressing import register_address
from ctm.rtl.r700.shapes import PROGRAM

_READ_ONCE = Task.SHARE_READ, Task.AREA
"""Tasks whose instructions have one source and several registers; others have a source for each register."""


class FetchSequencer(wiring.Component):
    """Gives the micro-ops of clauses and exports, all of one before those of the next, in the order in which they came.

    An instruction has a micro-op for each of its registers and each slice of the wavefront: register by register, but
    slice by slice where all registers have one source. An export to memory has two for each, the first of which finds
    addresses from the index register.

    The first micro-op of an instruction is offered four cycles after the last one of the previous instruction at the
    earliest (fetch, decode, source, offer), each further one after two, or one if it `keeps` the source. A source waits
    for its read, which the ALU leaves in one of four cycles. All of that is done while the executor works on the
    previous micro-op.

    A source is read after earlier fetches of the clause that write it. Where the micro-op writes registers without a
    request, it waits for earlier fetches of the same registers, too, whose words would come later than its own.
    After a micro-op of CONSTANTS the sequencer waits until it is executed, as it may end the clause.

    Members
    -------
    program : ``In(PROGRAM)``
    clause : ``In(stream.Signature(fetch_clause_layout(config, W)))``
        Ready while there is an entry: there are as many as wave slots.
    begins : ``Out(begins_layout(config))``
        Before the first micro-op of a clause or an export.
    code : ``Out(CodePort())``
    read : ``Out(stream.Signature(register_address_layout(config)))``
        The source of the next micro-op, whose words come in the next cycle.
    micro_op : ``Out(stream.Signature(micro_op_layout(config)))``
        With a source only in the cycle of its words: if it is not accepted then, it is withdrawn, and offered again
        with a new read. Micro-ops without one are offered until they are accepted.
    drained : ``In(threads)``
        Wave slots without a fetch or a write in flight.
    works : ``In(1)``
        The executor works on a micro-op.
    failed : ``In(1)``
        In a cycle with `works`: the micro-op, of CONSTANTS, ends its clause by an error.
    issued : ``Out(IssuedInstruction(config))``
        A fetch instruction is decoded. An export is not counted.
    trace : ``Out(fetch_trace_layout(config))``
        With `issued`.
    busy : ``Out(1)``
        A clause or an export has micro-ops that were not accepted.
    """

    def __init__(self, config: ArrayConfig, *, draws: bool = False) -> None:
        self._config, self._draws = config, draws
        super().__init__(
            {
                "program": In(PROGRAM),
                "clause": In(stream.Signature(fetch_clause_layout(config, config.wavefront_lanes))),
                "begins": Out(begins_layout(config)),
                "code": Out(CodePort()),
                "read": Out(stream.Signature(register_address_layout(config))),
                "micro_op": Out(stream.Signature(micro_op_layout(config))),
                "drained": In(config.threads),
                "works": In(1),
                "failed": In(1),
                "issued": Out(IssuedInstruction(config)),
                "trace": Out(fetch_trace_layout(config)),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        return _SequencerLogic(m, self, self._config, draws=self._draws).build()


class _SequencerLogic:
    """The logic of the sequencer: the current clause or export, the next micro-op, and a state machine.

    States: idle; fetch and decode an instruction; read its source (source), and offer the micro-op with its words
    (sourced), or without (offer); wait for a micro-op that may fail (hold).
    """

    def __init__(self, m: Module, unit: FetchSequencer, config: ArrayConfig, *, draws: bool) -> None:
        self.m, self.unit, self.config, self.draws = m, unit, config, draws
        self.partition = partition = Partition.of(config)
        self.clause: data.View = record(unit.clause.payload.shape(), name="current", reset_less=True)
        """The clause or export; `begin` is the current instruction's address, `budget` counts down."""
        self.fetch: data.View = record(FETCH, name="fetch", reset_less=True)
        """The current instruction of a clause."""
        self.problem: data.View = record(PROBLEM, name="problem")
        """OK, or that by which the next micro-op ends the clause."""
        self.burst, self.at_index = Signal(4), Signal()
        """The next micro-op's register; and whether, in an export to memory, it finds addresses."""
        self.slice = Signal(partition.slice_bits, name="slice")
        """The next micro-op's slice."""
        self.written = Signal(TEMPORARIES)
        """Registers that accepted micro-ops of the clause write, a bit of each."""
        self.export = data.View(exports.EXPORT_DWORD0, self.clause.unit[:WORD_BITS])
        self.export_high = data.View(exports.EXPORT_DWORD1_BUF, self.clause.unit[WORD_BITS:])
        self.gprs = delay(m, unit.program.gprs, name="gprs")
        self.queue = SyncFIFO(width=self.clause.shape().size, depth=config.threads)
        self.decode = FetchDecode(draws=draws)
        self.more = Signal(name="more_registers")
        """The instruction has micro-ops after the next one."""
        self.last_burst, self.last_slice = self.burst == self._bursts(), self.slice == partition.slices - 1
        self.source_slice = self._source_slice()
        self.source_base = Signal(row_bits(config), name="source_base")
        self.destination = self._destination()

    def build(self) -> Module:
        """Build the logic."""
        m, unit, clause = self.m, self.unit, self.clause
        m.submodules.queue, m.submodules.decode = self.queue, self.decode
        m.d.comb += [
            unit.clause.ready.eq(self.queue.w_rdy),
            self.queue.w_en.eq(unit.clause.valid),
            self.queue.w_data.eq(unit.clause.payload),
            self.decode.program.eq(unit.program),
            self.decode.textures.eq(clause.textures),
            self.decode.words.eq(unit.code.found.units),
            unit.trace.valid.eq(unit.issued.valid),
            unit.trace.wave.eq(clause.wave),
            unit.trace.address.eq(clause.begin),
            unit.trace.executing.eq(clause.executing),
        ]
        self._connect_micro_op()
        found, waits = self._find_source()
        with m.FSM() as fsm:
            self._idle()
            self._fetch()
            self._source(found, waits)
            self._offer()
            self._hold()
        m.d.comb += unit.busy.eq(self.queue.r_rdy | ~fsm.ongoing("idle"))
        return m

    def _connect_micro_op(self) -> None:
        """Drive the micro-op that is offered."""
        m, unit, clause, fetch = self.m, self.unit, self.clause, self.fetch
        micro_op = unit.micro_op.payload
        fails = Value.cast(self.problem.status) != Status.OK.value
        last = clause.exports | (clause.begin + 2 == clause.end)
        last_register = ~self.at_index & self.last_burst & (self.last_slice | self._is(Task.NOTHING))
        self._connect_clause(micro_op)
        m.d.comb += [
            self.more.eq(~fails & ~last_register),
            micro_op.fetch.eq(fetch),
            micro_op.burst.eq(self.burst),
            micro_op.ends.eq(fails | (last_register & last)),
            micro_op.problem.eq(self.problem),
            micro_op.keeps.eq(self._keeps()),
        ]
        with m.If(clause.exports):
            m.d.comb += [
                micro_op.fetch.task.eq(
                    export_task(clause.unit, unit.program.stage, at_index=self.at_index, draws=self.draws)
                ),
                micro_op.fetch.coordinates[0].eq(0),
                micro_op.fetch.access.eq(export_access(m, clause.unit)),
            ]

    def _connect_clause(self, micro_op: data.View) -> None:
        """The slice's masks and registers of the clause or export."""
        m, clause, partition = self.m, self.clause, self.partition
        rows = rows_of(self.gprs)
        masks = ("executing", "active", "covered", "valid_mask")
        m.d.comb += [
            *(
                micro_op.clause[str(name)].eq(clause[str(name)])
                for name, _ in clause.shape()
                if name not in (*masks, "base")
            ),
            *(
                micro_op.clause[name].eq(partition.slice_of(clause[name], self.slice))
                for name in masks
                if name != "active"
            ),
            micro_op.clause.active.eq(partition.slice_of(clause.active, self.source_slice)),
            micro_op.clause.base.eq(clause.base + self.slice * rows),
            micro_op.slice.eq(self.slice),
            self.source_base.eq(clause.base + self.source_slice * rows),
        ]

    def _bursts(self) -> Value:
        """The last register of the burst."""
        return Mux(self.clause.exports, self.export_high.burst_count, self.fetch.burst)

    def _source_slice(self) -> Value:
        """The slice of the source. A broadcast reads that of the first active pixel."""
        partition = self.partition
        active = (partition.slice_of(self.clause.active, Const(number)).any() for number in range(partition.slices))
        return Mux(self._broadcasts(), one_hot_index(lowest_one(Cat(active))), self.slice)

    def _destination(self) -> Value:
        """The register that the micro-op writes, as a bit."""
        written = self._named(self.fetch.destination + self.burst, self.fetch.destination_relative)
        return Mux(self._is(Task.SHARE_WRITE), 0, written)

    def _broadcasts(self) -> Value:
        """Whether all slices have one source."""
        return self._is(Task.SHARE_READ) & Value.cast(self.fetch.broadcasts)

    def _keeps(self) -> Value:
        """Whether the micro-op's source is that of the previous one."""
        keeps: Value = (self._is(*_READ_ONCE) & self.burst.any()) | (self._broadcasts() & self.slice.any())
        return keeps

    def _is(self, *tasks: Task) -> Value:
        """Whether the current instruction is one of a clause with one of these tasks."""
        found: Value = ~self.clause.exports & is_among(self.fetch.task, tasks)
        return found

    def _find_source(self) -> tuple[data.View, Value]:
        """The source's address, and whether its read waits for a fetch that writes it or the instruction's target."""
        unit, clause, fetch, low = self.unit, self.clause, self.fetch, self.export
        number = Mux(clause.exports, Mux(self.at_index, low.index_gpr, low.rw_gpr), fetch.source)
        relative = Mux(clause.exports, ~self.at_index & low.rw_rel, fetch.source_relative)
        steps = Mux(self.at_index | self._is(*_READ_ONCE), 0, self.burst)
        source = (number + steps)[: REGISTER_BITS + 1]
        found = register_address(
            self.m, self.config, source, clause.loop_index, relative,
            gprs=self.gprs, base=self.source_base,
        )  # fmt: skip
        # Responses come in the order of their fetches; a write without a fetch must not pass them.
        is_absent = Cat(each.pitch == 0 for each in unit.program.inputs).bit_select(fetch.input, 1)
        responds = self._is(*INPUT_FETCHES) & ~is_absent
        own = self._named(source, relative) | Mux(responds, 0, self.destination)
        # Only the first register of these is checked before they begin.
        several = self._is(*_READ_ONCE) & fetch.burst.any()
        named = (self.written & own).any() | (several & self.written.any())
        done = unit.drained.bit_select(clause.wave, 1) & ~unit.works
        return found, ~clause.exports & named & ~done

    def _named(self, number: Value, relative: Value) -> Value:
        """The bit of a register, relative to aL or not, among those of `written`."""
        index = (number + Mux(relative, self.clause.loop_index, 0))[:REGISTER_BITS]
        return (1 << index)[:TEMPORARIES]

    def _idle(self) -> None:
        """Begin a clause or an export."""
        m, unit = self.m, self.unit
        coming = data.View(self.clause.shape(), self.queue.r_data)
        m.d.comb += [unit.begins.wave.eq(coming.wave), unit.begins.address.eq(coming.begin)]
        with m.State("idle"):
            m.d.comb += [self.queue.r_en.eq(1), unit.begins.valid.eq(self.queue.r_rdy)]
            m.d.sync += [
                self.clause.eq(coming),
                self.written.eq(0),
                self.burst.eq(0),
                # A clause may have stopped between two slices.
                self.slice.eq(0),
                self.at_index.eq(coming.exports & writes_memory(coming.unit)),
                Value.cast(self.problem).eq(0),
            ]
            with m.If(self.queue.r_rdy):
                m.next = "fetch"
                with m.If(coming.exports):
                    m.next = "source"

    def _fail(self, status: Status, client: BusClient | None = None) -> None:
        """Stop the clause at the instruction."""
        self.m.d.sync += [
            self.problem.status.eq(status),
            self.problem.client.eq(client or 0),
            self.problem.address.eq(self.clause.begin),
            self.fetch.task.eq(Task.NOTHING),
        ]
        self.m.next = "offer"

    def _fetch(self) -> None:
        """Read the next instruction of a clause, and decode it."""
        m, unit, clause = self.m, self.unit, self.clause
        with m.State("fetch"):
            m.d.comb += [unit.code.row.eq(clause.begin[1:]), unit.code.reads.eq(1)]
            with m.If((unit.program.watchdog != 0) & (clause.budget == 0)):
                self._fail(Status.WATCHDOG)
            with m.Elif(unit.code.free):
                m.next = "decode"
        with m.State("decode"):
            m.d.sync += self.fetch.eq(self.decode.fetch)
            with m.If(~unit.code.found.hit):
                m.next = "fetch"
            with m.Elif(unit.code.found.error):
                self._fail(Status.BUS_ERROR, BusClient.INSTRUCTION)
            with m.Else():
                m.d.sync += clause.budget.eq(clause.budget - 1)
                m.d.comb += [unit.issued.valid.eq(1), unit.issued.active.eq(clause.active)]
                with m.If(self.decode.fetch.illegal):
                    self._fail(Status.ILLEGAL_INSTRUCTION)
                with m.Elif(self.decode.fetch.task == Task.NOTHING):
                    m.next = "offer"
                with m.Else():
                    m.next = "source"

    def _source(self, found: data.View, waits: Value) -> None:
        """Read the source, and offer the micro-op with its words."""
        m, unit = self.m, self.unit
        with m.State("source"):
            m.d.comb += [unit.read.valid.eq(~waits), unit.read.payload.eq(found)]
            with m.If(unit.read.valid & unit.read.ready):
                m.next = "sourced"
        with m.State("sourced"):
            m.d.comb += unit.micro_op.valid.eq(1)
            with m.If(unit.micro_op.ready):
                self._go_on()
            with m.Else():
                m.next = "source"

    def _offer(self) -> None:
        """Offer a micro-op that needs no words."""
        m, unit = self.m, self.unit
        with m.State("offer"):
            m.d.comb += unit.micro_op.valid.eq(1)
            with m.If(unit.micro_op.ready):
                self._go_on()

    def _go_on(self) -> None:
        """After a micro-op is accepted: to the next register, the next instruction, or the end."""
        m, clause = self.m, self.clause
        once = self._is(*_READ_ONCE)
        self._advance(once)
        with m.If(clause.exports):
            m.d.sync += self.at_index.eq(~self.at_index & writes_memory(clause.unit))
        with m.If(self.more):
            m.next = "source"
            with m.If(self._is(Task.CONSTANTS)):
                m.next = "hold"
            with m.If(once & (~self.last_burst | self._broadcasts())):
                m.next = "offer"
        with m.Else():
            m.d.sync += [self.burst.eq(0), self.slice.eq(0), clause.begin.eq(clause.begin + 2)]
            m.next = "fetch"
            with m.If(self.unit.micro_op.payload.ends):
                m.next = "idle"
            with m.Elif(self._is(Task.CONSTANTS)):
                m.next = "hold"

    def _advance(self, once: Value) -> None:
        """To the next slice of a register; `once`, as there is one source, to the next register of a slice."""
        m, is_done = self.m, ~self.at_index
        with m.If(self.last_slice):
            m.d.sync += self.written.eq(self.written | self.destination)
        with m.If(is_done & Mux(once, self.last_burst, 1)):
            m.d.sync += self.slice.eq(self.slice + 1)
        with m.If(is_done & Mux(once, 1, self.last_slice)):
            m.d.sync += self.burst.eq(Mux(once & self.last_burst, 0, self.burst + 1))

    def _hold(self) -> None:
        """Wait for a micro-op that may fail."""
        m, unit = self.m, self.unit
        with m.State("hold"):
            with m.If(unit.failed):
                m.next = "idle"
            with m.Elif(~unit.works):
                m.next = "fetch"
                with m.If(self.slice.any()):
                    m.next = "source"
