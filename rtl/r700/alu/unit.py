"""The ALU of a core: executes ALU clauses, group by group, of several wavefronts at a time.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-core.md.
"""

from functools import reduce
from itertools import pairwise
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.set_clear_flags import SetClearFlags
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.clauses import CONTEXT_FLAGS, ClauseTables, choose_context, contexts_of, executing
from ctm.rtl.r700.alu.effects import AddressMoves, GroupEffects
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.picked import PickedGroup, VerifiedGroup
from ctm.rtl.r700.alu.pipeline.issued import issue_layout
from ctm.rtl.r700.alu.pipeline.pipeline import Pipeline
from ctm.rtl.r700.alu.pixel_decode import PixelDecode
from ctm.rtl.r700.alu.port_schedule import DECODE_CYCLES
from ctm.rtl.r700.alu.shape_constants import ShapeRead, connect_shapes
from ctm.rtl.r700.alu.trace import alu_trace_layout
from ctm.rtl.r700.border.alu_clause import alu_clause_layout, alu_outcome_layout
from ctm.rtl.r700.border.code import CodePort
from ctm.rtl.r700.border.constants import ConstantPort
from ctm.rtl.r700.border.issued import IssuedInstruction
from ctm.rtl.r700.border.registers import AluRegisterPort
from ctm.rtl.r700.code.groups import GROUP, GroupReader
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.partition import PERIOD, Partition
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import PROGRAM


class AluUnit(wiring.Component):
    """Executes clauses, and gives their outcomes.

    A wave slot has one clause at a time, and there is an entry for each, so `clause` is always ready. Clauses enter
    contexts in the order in which they come, and share the pipeline by round robin.

    One group is issued in each interval (`Intervals`) if one is ready. It is picked in the last cycle of an interval,
    decoded in the next interval, and issued at that one's end. The next group of its clause is issued
    `Intervals.intervals` intervals later at the earliest. A group with numbers relative to AR is issued once for each
    set of pixels that have the same indices; one that misses constants is issued when they are loaded.

    A clause ends with the results of its last group, or with a problem; so outcomes are not in the order of clauses.

    Members
    -------
    program : ``In(PROGRAM)``
        Constant while there are clauses.
    clause : ``In(stream.Signature(alu_clause_layout(config)))``
    outcome : ``Out(stream.Signature(alu_outcome_layout(config)))``
        All words of the clause are written. That of the lowest context comes first: until one is accepted, another one
        may be offered in the next cycle.
    code : ``Out(CodePort())``
        `free` is not read: the unit has the highest priority.
    registers : ``Out(AluRegisterPort(array))``
    reads_free : ``Out(1)``
        In one of four cycles: other units may read registers, and `registers.reads` have no effect.
    writes_free : ``Out(1)``
        In two of four cycles: other units may write registers in the next cycle, and only in that.
    constants : ``Out(ConstantPort(CONSTANT_PAIRS))``
        `free` is not read; see `constant_free`. A miss comes a cycle after the group was decoded.
    constant_free : ``Out(1)``
        Other units may read constants: in all cycles of an interval but the first and the last one.
    loading : ``In(1)``
        Constants are being loaded. A miss has no effect then, and groups that missed wait until it is low.
    issued : ``Out(IssuedInstruction(array))``
        A group is issued for the first time, for an observer.
    counted, counted_lanes : ``Out(1)``, ``Out(range(W + 1))``
        The same a cycle later, for counters: how many pixels are active, 0 if no group was issued.
    trace : ``Out(alu_trace_layout(config))``
    shapes : ``Out(ShapeRead(config))``
        Where the machine draws.

    `tables` and `flags` are the state of the contexts. `recent` has the context that was picked one interval ago, two
    intervals ago and so on, a bit of each.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        array = config.array
        size = array.wavefront_lanes
        self._intervals = intervals_of(array, lane_latency(config.arithmetic))
        self._contexts = contexts_of(array)
        self._phase = Signal(range(self._intervals.interval), name="phase")
        self.tables, self.flags = ClauseTables.of(array), SetClearFlags(self._contexts, CONTEXT_FLAGS)
        self.recent = [Signal(self._contexts, name=f"recent_{age}") for age in range(self._intervals.intervals - 1)]
        super().__init__(
            {
                "program": In(PROGRAM),
                "clause": In(stream.Signature(alu_clause_layout(array))),
                "outcome": Out(stream.Signature(alu_outcome_layout(array))),
                "code": Out(CodePort()),
                "registers": Out(AluRegisterPort(array)),
                "reads_free": Out(1),
                "writes_free": Out(1),
                "constants": Out(ConstantPort(CONSTANT_PAIRS)),
                "constant_free": Out(1),
                "loading": In(1),
                "issued": Out(IssuedInstruction(array)),
                "counted": Out(1),
                "counted_lanes": Out(range(size + 1)),
                "trace": Out(alu_trace_layout(array)),
                **({"shapes": Out(ShapeRead(config))} if config.pipeline.draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        intervals = self._intervals
        m.d.sync += self._phase.eq(Mux(self._phase == intervals.interval - 1, 0, self._phase + 1))
        for name, table in vars(self.tables).items():
            m.submodules[name] = table
        m.submodules.pipeline = pipeline = Pipeline(self._config)
        self._enter(m)
        self._read_groups(m)
        picked = self._pick(m)
        indices, ending_indices = self.tables.read_addresses(
            m, intervals, self._phase, issued=picked.context, ending=pipeline.end.group.context
        )
        verified = self._verify(m, picked, indices)
        self._update(m, picked, verified)
        self._issue(m, picked, verified, pipeline)
        self._end(m, pipeline, ending_indices)
        self._leave(m)
        self.flags.finish(m)
        connect(m, pipeline.registers, flipped(self.registers))
        step = self._phase[: (PERIOD - 1).bit_length()]
        results_come = Cat(step == intervals.step(cycle) for cycle in (intervals.last - 1, intervals.last)).any()
        m.d.comb += [
            pipeline.phase.eq(self._phase),
            pipeline.gprs.eq(self.program.gprs),
            pipeline.constant_words.eq(self.constants.words),
            self.reads_free.eq(step >= intervals.choice),
            self.constant_free.eq((self._phase != 0) & (self._phase != intervals.interval - 1)),
            self.writes_free.eq(~results_come),
        ]
        return m

    def _enter(self, m: Module) -> None:
        """Take a clause. The queue has an entry for every wavefront, so that control flow never waits."""
        layout = alu_clause_layout(self._config.array)
        m.submodules.queue = queue = SyncFIFO(width=layout.size, depth=self._config.array.threads)
        tables, clause = self.tables, data.View(layout, queue.r_data)
        free = lowest_one(~self.flags["occupied"])
        taken, context = Signal(), one_hot_index(free)
        m.d.comb += [
            self.clause.ready.eq(queue.w_rdy),
            queue.w_en.eq(self.clause.valid),
            queue.w_data.eq(self.clause.payload),
            queue.r_en.eq(free.any()),
            taken.eq(queue.r_rdy & free.any()),
        ]
        entered = Mux(taken, free, 0)
        for name in ("occupied", "unread"):
            self.flags.set(name, entered)
        tables.enter(m, context, clause, taken)

    def _read_groups(self, m: Module) -> None:
        """Read the next group of a context, which is chosen in the first cycle of an interval."""
        tables = self.tables
        m.submodules.reader = reader = GroupReader()
        chosen = choose_context(m, self.flags["unread"], self._phase == 0, "read")
        context, reading = one_hot_index(chosen), Signal((self._contexts - 1).bit_length())
        was_reading, is_whole = Signal.like(reading), Signal()
        clause = tables.clauses.read(m, context)
        m.d.comb += [
            reader.start.eq(chosen.any()),
            reader.address.eq(tables.nexts.read(m, context, first=clause.begin)),
            reader.end.eq(clause.end),
            self.code.row.eq(reader.row),
            self.code.reads.eq(reader.reads),
            reader.found.eq(self.code.found),
        ]
        self.flags.clear("unread", chosen)
        with m.If(reader.start):
            m.d.sync += reading.eq(context)
        was_read = (1 << reading)[: self._contexts]
        self.flags.set("ready", Mux(reader.done & reader.whole, was_read, 0))
        self.flags.set("unread", Mux(reader.done & ~reader.whole, was_read, 0))
        m.d.sync += [was_reading.eq(reading), is_whole.eq(reader.done & reader.whole)]
        tables.groups.write(m, was_reading, reader.group, is_whole)

    def _verify(self, m: Module, picked: PickedGroup, kept: data.View) -> VerifiedGroup:
        """Decode the group in the interval before its issue, and find whether it is issued. `kept` has its indices."""
        tables = self.tables
        decode = self._decode(m, picked, kept)
        budget = tables.budgets.read(m, picked.context, first=picked.clause.budget)
        problem = self._find_problem(m, picked, decode, budget)
        stops = Value.cast(problem.status) != Status.OK.value
        misses = ~stops & decode.constants.missing.any()
        goes, last, others = Signal(), Signal(), Signal(self._config.array.wavefront_lanes)
        m.d.comb += [
            goes.eq(~stops & ~misses),
            others.eq(picked.pixels & ~decode.alike),
            last.eq(~decode.relative | ~others.any()),
        ]
        return VerifiedGroup(
            decode=decode, budget=budget, problem=problem, stops=stops, misses=misses, goes=goes, last=last,
            others=others, pixels=Mux(decode.relative, decode.alike, ~0),
        )  # fmt: skip

    def _update(self, m: Module, picked: PickedGroup, found: VerifiedGroup) -> None:
        """The state of the group's context after its issue, its miss or its stop."""
        tables, context, group, needed = self.tables, picked.context, picked.group, found.decode.constants
        own = Mux(picked.now, (1 << context)[: self._contexts], 0)
        consumed, in_clause = Mux(found.goes & found.last, own, 0), group.next < picked.clause.end
        self.flags.set("waiting", Mux(found.misses, own, 0))
        self.flags.clear("waiting", Mux(self.loading | self.constants.miss.valid, 0, (1 << self._contexts) - 1))
        self.flags.set("replays", Mux(found.goes & ~found.last, own, 0))
        self.flags.clear("replays", consumed)
        self.flags.clear("ready", consumed | Mux(found.stops, own, 0))
        self.flags.set("unread", Mux(in_clause, consumed, 0))
        self.flags.set("ended", Mux(found.stops, own, 0))
        happens = picked.now & found.goes
        tables.budgets.write(m, context, found.budget - 1, happens & ~picked.replays)
        tables.remaining.write(m, context, found.others, happens)
        tables.nexts.write(m, context, group.next, happens & found.last)
        tables.produced.write(m, context, group.used, happens & found.last)
        tables.problems.write(m, context, found.problem, picked.now & found.stops)
        m.d.sync += [
            self.constants.miss.valid.eq(picked.now & found.misses),
            *(
                line.eq(Cat(needed.missing[number], ConstantBank.FLOAT, needed.lines[number]))
                for number, line in enumerate(self.constants.miss.lines)
            ),
        ]

    def _issue(self, m: Module, picked: PickedGroup, found: VerifiedGroup, pipeline: Pipeline) -> None:
        """Give the group to the pipeline, and read its constants."""
        clause, group, decode = picked.clause, picked.group, found.decode
        issue: data.View = record(issue_layout(self._config), reset_less=True)
        issues, happens, issued, trace = Signal(), picked.now & found.goes, self.issued, self.trace.issue
        is_last = self._phase == self._intervals.interval - 1
        with m.If(is_last):
            m.d.sync += [
                issues.eq(happens),
                issue.context.eq(picked.context),
                issue.chosen.eq(found.pixels),
                issue.base.eq(clause.base),
                issue.last.eq(found.last & ~(group.next < clause.end)),
                issue.decoded.eq(decode.decoded),
            ]
        m.d.comb += [
            issued.valid.eq(happens & ~picked.replays),
            issued.active.eq(picked.masks.branch_mask & clause.inside),
            pipeline.valid.eq(issues),
            pipeline.issue.eq(issue),
            self.constants.row.eq(decode.row),
            trace.valid.eq(happens),
            trace.wave.eq(clause.wave),
            trace.address.eq(group.address),
            trace.chosen.eq(found.pixels),
            trace.is_last.eq(found.last),
        ]
        m.d.sync += [self.counted.eq(issued.valid), self.counted_lanes.eq(Mux(issued.valid, sum(issued.active), 0))]
        if self._config.pipeline.draws:
            pairs = decode.decoded.pairs[0], issue.decoded.pairs[1]
            connect_shapes(
                m, self.shapes, self._config, clause.wave, pairs, is_last=is_last, is_second=self._phase == 0
            )

    def _pick(self, m: Module) -> PickedGroup:
        """Pick a ready group whose clause's previous one will have ended when this one is issued."""
        tables, count, recent = self.tables, self._contexts, self.recent
        is_last = self._phase == self._intervals.interval - 1
        candidates = self.flags["ready"] & ~self.flags["waiting"] & ~reduce(or_, recent)
        chosen = choose_context(m, candidates, is_last, "issue")
        context, valid = Signal((count - 1).bit_length()), Signal()
        group: data.View = record(GROUP, reset_less=True)
        with m.If(is_last):
            number = one_hot_index(chosen)
            m.d.sync += [*(after.eq(before) for before, after in pairwise([chosen, *recent]))]
            m.d.sync += [context.eq(number), valid.eq(chosen.any()), group.eq(tables.groups.read(m, number))]
        clause = tables.clauses.read(m, context)
        masks = tables.read_masks(m, context, clause)
        replays = self.flags["replays"].bit_select(context, 1)
        pixels, now = Signal(self._config.array.wavefront_lanes), Signal()
        m.d.comb += [
            pixels.eq(Mux(replays, tables.remaining.read(m, context), executing(m, clause, masks))),
            now.eq(valid & is_last),
        ]
        return PickedGroup(
            now=now, context=context, group=group, clause=clause, masks=masks, replays=replays, pixels=pixels
        )  # fmt: skip

    def _decode(self, m: Module, picked: PickedGroup, kept: data.View) -> PixelDecode:
        """Decode the group, with the indices of the pixels for which it is issued."""
        m.submodules.decode = decode = PixelDecode(
            self._config.array.wavefront_lanes, draws=self._config.pipeline.draws
        )
        m.d.comb += [
            # In the last cycles of the interval, of which `picked.now` is the last one.
            decode.cycle.eq(self._phase - (self._intervals.interval - DECODE_CYCLES)),
            decode.group.eq(picked.group),
            decode.kcache.eq(picked.clause.kcache),
            decode.produced.eq(self.tables.produced.read(m, picked.context)),
            decode.kept.eq(kept),
            decode.is_set.eq(self.tables.address_set.read(m, picked.context)),
            decode.pixels.eq(picked.pixels),
            decode.loop.eq(picked.clause.loop_index),
            decode.dx10_clamp.eq(self.program.dx10_clamp),
            decode.constants.loaded.eq(self.constants.loaded),
            decode.constants.error.eq(self.constants.error),
        ]
        return decode

    def _find_problem(self, m: Module, picked: PickedGroup, decode: PixelDecode, budget: Value) -> data.View:
        """The cause by which the group stops its wavefront, or none."""
        problem: data.View = record(PROBLEM)
        m.d.comb += problem.address.eq(picked.group.address)
        with m.If((self.program.watchdog != 0) & (budget == 0) & ~picked.replays):
            m.d.comb += problem.status.eq(Status.WATCHDOG)
        with m.Elif(picked.group.error):
            m.d.comb += [problem.status.eq(Status.BUS_ERROR), problem.client.eq(BusClient.INSTRUCTION)]
        with m.Elif(decode.illegal):
            m.d.comb += problem.status.eq(Status.ILLEGAL_INSTRUCTION)
        with m.Elif(decode.constants.is_error):
            m.d.comb += [problem.status.eq(Status.BUS_ERROR), problem.client.eq(BusClient.FLOAT_CONSTANT)]
        return problem

    def _end(self, m: Module, pipeline: Pipeline, kept: data.View) -> None:
        """Write a group's effects; `kept` are the indices before it."""
        tables, end, ending = self.tables, pipeline.end, pipeline.end.group
        context, size = ending.context, self._config.array.wavefront_lanes
        clause = tables.clauses.read(m, context)
        masks = tables.read_masks(m, context, clause)
        m.submodules.effects = effects = GroupEffects(size)
        # They are stable before the results of a slice's last pass come, unless that is the first one.
        are_early = Partition.of(self._config.array).slice_passes > 1
        gates = delay(m, effects.gates, name="gates") if are_early else effects.gates
        m.d.comb += [
            effects.effects.eq(ending.effects),
            effects.executing.eq(executing(m, clause, masks) & ending.chosen),
            effects.before.eq(masks),
            effects.predicate.eq(end.predicate),
            effects.kill.eq(end.kill),
            end.gates.eq(gates),
        ]
        tables.masks.write(m, context, effects.after, end.ends)
        self.flags.set("ended", Mux(end.ends & ending.last, (1 << context)[: self._contexts], 0))
        m.submodules.moves = moves = AddressMoves(size)
        m.d.comb += [
            moves.kept.eq(kept),
            moves.is_set.eq(tables.address_set.read(m, context)),
            moves.sets.eq(Cat(ending.effects[channel].sets_address for channel in range(CHANNELS))),
            moves.gates.eq(effects.gates),
            moves.indices.eq(end.addresses),
        ]
        happens = end.ends & moves.sets.any()
        tables.addresses.write(m, context, moves.after, happens)
        tables.address_set.write(m, context, 1, happens)
        m.d.comb += [
            self.trace.result.valid.eq(end.ends),
            self.trace.result.wave.eq(clause.wave),
            self.trace.result.masks.eq(effects.after),
            self.trace.result.addresses.eq(moves.after),
            self.trace.words.eq(end.results),
        ]

    def _leave(self, m: Module) -> None:
        """Give the outcome of a clause at its end."""
        tables, outcome = self.tables, self.outcome
        chosen = lowest_one(self.flags["ended"])
        context = one_hot_index(chosen)
        clause = tables.clauses.read(m, context)
        masks = tables.read_masks(m, context, clause)
        m.d.comb += [
            outcome.valid.eq(chosen.any()),
            outcome.payload.wave.eq(clause.wave),
            *(outcome.payload[name].eq(masks[name]) for name in ("branch_mask", "valid_mask", "cleared")),
            outcome.payload.budget.eq(tables.budgets.read(m, context, first=clause.budget)),
            outcome.payload.problem.eq(tables.problems.read(m, context)),
        ]
        released = Mux(outcome.ready, chosen, 0)
        for name in ("occupied", "ended"):
            self.flags.clear(name, released)
