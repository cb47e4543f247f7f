"""The fetch unit: the load-store unit of a core, which executes fetch clauses and exports.

Source: R700-Family Instruction Set Architecture, chapter 5 and section 3.4; docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.clients import FetchClient, UncachedClient
from ctm.rtl.border.shading import FetchShading
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.memory.scoreboard import Scoreboard
from ctm.rtl.dpp.registers.outputs import output_write_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.lib.register_slice import SliceMode, connect_slice
from ctm.rtl.r700.border.code import CodePort
from ctm.rtl.r700.border.constants import ConstantPort
from ctm.rtl.r700.border.fetch_clause import (
    FetchStart,
    fetch_clause_layout,
    fetch_outcome_layout,
    fetch_trace_layout,
)
from ctm.rtl.r700.border.issued import IssuedInstruction
from ctm.rtl.r700.border.registers import RegisterPort
from ctm.rtl.r700.fetch.ends import ClauseEnds
from ctm.rtl.r700.fetch.executor import FetchExecutor
from ctm.rtl.r700.fetch.finders.constants import ROWS
from ctm.rtl.r700.fetch.returned import FetchReturn
from ctm.rtl.r700.fetch.sequencer import FetchSequencer
from ctm.rtl.r700.partition import segment_outputs
from ctm.rtl.r700.shapes import AREAS, PROGRAM, SHAPES, UNIT_ADDRESS_BITS


class FetchUnit(wiring.Component):
    """Executes fetch clauses and exports in the order in which they come, and gives their outcomes.

    A wave slot has one clause or export at a time, and there is an entry for each, so `clause` is always ready. An
    instruction reads one register in a cycle in which the ALU does not, and sends a fetch for each pass of the lanes in
    which a pixel executes, one in each cycle at best. `FetchSequencer`, the finders and the writers say how many cycles
    each task takes. Instructions of a clause do not wait for responses, unless one names a register that an earlier one
    has yet to write. The next clause begins while the responses of earlier ones come.

    A clause ends when all its responses are in the registers, an export to memory when all its words are in memory.
    So outcomes are not in the order of the clauses.

    Members
    -------
    program : ``In(PROGRAM)``
        Constant while the unit is `busy`.
    clause : ``In(stream.Signature(fetch_clause_layout(config, W)))``
    outcome : ``Out(stream.Signature(fetch_outcome_layout(config)))``
        As that of `ClauseEnds`.
    start : ``In(FetchStart(config))``
    code : ``Out(CodePort())``
    registers : ``Out(RegisterPort(config))``
    outputs : ``Out(output_write_layout(segment_outputs(config), SHAPES))``
        Writes of output registers, whose context is the row of a segment: wave slot * segments + segment.
    fetches : ``Out(FetchClient(lanes, tag, areas))``
    uncached : ``Out(UncachedClient(lanes, wave, areas))``
    constants : ``Out(ConstantPort(ROWS))``
    issued, trace : ``Out``
        As those of `FetchSequencer`.
    shading : ``Out(FetchShading(config))``
        Where the machine draws.
    waits : ``Out(1)``
        A clause or an export is executed and has not ended: it waits for responses, of fetches or of writes.
    busy : ``Out(1)``
        A clause or an export has not ended.

    `sending` is the address of the instruction whose requests are sent, for an observer.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._machine, self._config = config, config.array
        self.sending = Signal(UNIT_ADDRESS_BITS)
        array, draws, has_geometry = config.array, config.pipeline.draws, config.pipeline.has_geometry
        tag = fetch_tag_layout(array, SHAPES)
        super().__init__(
            {
                "program": In(PROGRAM),
                "clause": In(stream.Signature(fetch_clause_layout(array, array.wavefront_lanes))),
                "outcome": Out(stream.Signature(fetch_outcome_layout(array))),
                "start": In(FetchStart(array)),
                "code": Out(CodePort()),
                "registers": Out(RegisterPort(array)),
                "outputs": Out(output_write_layout(segment_outputs(array), SHAPES)),
                "fetches": Out(FetchClient(array.at_once, tag, len(AREAS), memory=draws)),
                "uncached": Out(UncachedClient(array.at_once, wave_bits(array), len(AREAS), memory=has_geometry)),
                "constants": Out(ConstantPort(ROWS)),
                "issued": Out(IssuedInstruction(array)),
                "trace": Out(fetch_trace_layout(array)),
                "waits": Out(1),
                "busy": Out(1),
                **({"shading": Out(FetchShading(config))} if draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        draws = self._machine.pipeline.draws
        m.submodules.sequence = sequence = FetchSequencer(self._config, draws=draws)
        m.submodules.executor = executor = FetchExecutor(self._machine)
        m.submodules.outstanding = outstanding = Scoreboard(self._config)
        m.submodules.returned = returned = FetchReturn(self._config, draws=draws)
        m.submodules.ends = ends = ClauseEnds(self._config)
        drained = Signal(self._config.threads)
        """Wave slots whose fetches have all written the registers, and whose writes are in memory; none while a pass of
        any fetch is not yet in the registers."""
        m.d.comb += drained.eq(Mux(self.registers.in_flight | returned.holds, 0, outstanding.waves.drained))
        self._connect_sequence(m, sequence, executor, drained)
        self._connect_executor(m, executor, drained)
        self._connect_memory(m, executor, outstanding, returned)
        connect(m, ends.outcome, flipped(self.outcome))
        m.d.comb += [
            ends.begins.eq(sequence.begins),
            ends.executed.eq(executor.executed),
            ends.drained.eq(drained),
            ends.error.eq(returned.error),
            self.waits.eq(ends.waits),
            self.busy.eq(sequence.busy | ends.waits | executor.works | self.outcome.valid),
            self.sending.eq(executor.begin),
        ]
        return m

    def _connect_sequence(
        self, m: Module, sequence: FetchSequencer, executor: FetchExecutor, drained: Value
    ) -> None:  # fmt: skip
        """Connect the sequencer. Micro-ops go to the executor in the cycle in which the words of their source come."""
        connect(m, flipped(self.clause), sequence.clause)
        connect(m, sequence.code, flipped(self.code))
        connect(m, sequence.read, flipped(self.registers.read))
        connect(m, sequence.micro_op, executor.micro_op)
        connect(m, sequence.issued, flipped(self.issued))
        m.d.comb += [
            sequence.program.eq(self.program),
            sequence.drained.eq(drained),
            sequence.works.eq(executor.works),
            sequence.failed.eq(executor.failed),
            self.trace.eq(sequence.trace),
        ]

    def _connect_executor(self, m: Module, executor: FetchExecutor, drained: Value) -> None:
        """Connect the executor to the units around this one."""
        connect(m, flipped(self.start), executor.start)
        connect(m, executor.write, flipped(self.uncached.write))
        connect(m, executor.constants, flipped(self.constants))
        m.d.comb += [
            executor.program.eq(self.program),
            executor.source.eq(self.registers.found),
            executor.drained.eq(drained),
            self.outputs.eq(executor.outputs),
        ]
        if self._machine.pipeline.draws:
            connect(m, executor.shading, flipped(self.shading))

    def _connect_memory(
        self, m: Module, executor: FetchExecutor, outstanding: Scoreboard, returned: FetchReturn
    ) -> None:  # fmt: skip
        """Connect requests, responses, and writes without a request."""
        # Its elements are found in the cycle in front, and their addresses in the next one.
        passes = executor.passes
        connect_slice(m, "requests", passes.request, flipped(self.fetches.request), SliceMode.FULL)
        connect(m, flipped(self.fetches.response), returned.response)
        record, write, done = passes.record, self.uncached.write, self.uncached.done
        m.d.comb += [
            outstanding.texture.valid.eq(record.valid),
            outstanding.texture.wave.eq(record.tag.wave),
            outstanding.texture.fetches.eq(1),
            outstanding.returned.eq(returned.returned),
            outstanding.write.valid.eq(write.valid & write.ready & write.payload.acquires),
            outstanding.write.wave.eq(write.payload.wave),
            passes.entry.eq(outstanding.entry),
            passes.full.eq(outstanding.waves.full),
            returned.record.eq(record),
            done.ready.eq(1),
        ]
        m.d.sync += [outstanding.written.valid.eq(done.valid), outstanding.written.wave.eq(done.payload.wave)]
        connect(m, passes.direct, returned.direct)
        connect(m, returned.write, flipped(self.registers.write))
        m.d.comb += self.registers.error.eq(returned.error.valid)
