"""The pipeline of a group: its operands are read, selected pass by pass, computed, and its results written.

Source: R700-Family Instruction Set Architecture, sections 4.7 and 4.8; docs/design/r700-core.md has the timing.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import MachineConfig
from ctm.rtl.fp.function_table import share_tables
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import READ_CYCLES
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.pipeline import delay, delay_valid
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.clauses import contexts_of
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.pipeline.collector import OperandCollector
from ctm.rtl.r700.alu.pipeline.gathering import ResultGather
from ctm.rtl.r700.alu.pipeline.issued import GroupEnd, ending_layout, issue_layout
from ctm.rtl.r700.alu.pipeline.selection import PREVIOUS, OperandSelection
from ctm.rtl.r700.alu.pipeline.uniform import uniform_operands
from ctm.rtl.r700.alu.pipeline.writeback import WritebackArbiter
from ctm.rtl.r700.border.registers import AluRegisterPort
from ctm.rtl.r700.lane.lane import Lane
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.partition import Partition


class Pipeline(wiring.Component):
    """Reads, computes and writes one group in each interval; there is no stall.

    The results of the first pass come in cycle `first` of `Intervals`, those of the last one in cycle `last`, counted
    from the first cycle of the interval in which the group is `valid`. Results that the next group of the same context
    reads as previous ones are held by context and pass.

    Members
    -------
    phase : ``In(range(Intervals.interval))``
        The cycle of the interval.
    valid : ``In(1)``
        A group is issued.
    issue : ``In(issue_layout(config))``
        The group. Like `valid` it is stable in an interval.
    gprs : ``In(8)``
        The program's.
    registers : ``Out(AluRegisterPort(array))``
    constant_words : ``In(WORDS)``
        In the first two cycles the rows of the group's two pairs of constants.
    end : ``Out(GroupEnd(config))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        array = config.array
        self._timing = timing = intervals_of(array, lane_latency(config.arithmetic))
        self._partition = Partition.of(array)
        super().__init__(
            {
                "phase": In(range(timing.interval)),
                "valid": In(1),
                "issue": In(issue_layout(config)),
                "gprs": In(8),
                "registers": Out(AluRegisterPort(array)),
                "constant_words": In(WORDS),
                "end": Out(GroupEnd(config)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        timing = self._timing
        is_read = self.phase == timing.choice - 1
        # The controls of a group whose operands were read, while its passes are selected.
        selected: data.View = record(issue_layout(self._config), name="selected", reset_less=True)
        with m.If(is_read):
            m.d.sync += selected.eq(self.issue)
        in_pass = Signal(timing.passes)
        m.d.sync += in_pass.eq(Cat(self.valid & is_read, in_pass))
        number, passes = one_hot_index(in_pass), delay_valid(m, in_pass, 1 + timing.lane_latency)[-1]
        ending = self._ending(m, selected)
        collector = self._collect(m, in_pass, number)
        uniform = uniform_operands(
            m, self.issue.decoded, self.constant_words, is_first=self.phase == 0, is_last=is_read
        )  # fmt: skip
        control = delay(m, selected.decoded.control, name="control")
        lanes = [Lane(self._config.arithmetic) for _ in range(self._partition.lanes)]
        lanes[0].gate_together(m, platform, control)
        share_tables(m, [lane.functions for lane in lanes])
        upcoming = Mux(is_read, self._row(m, self.issue.context, 0), self._row(m, selected.context, number + 1))
        previous = self._keep_results(m, lanes, passes, ending, upcoming)
        for index, lane in enumerate(lanes):
            m.submodules[f"lane_{index}"] = lane
            m.submodules[f"selection_{index}"] = selection = OperandSelection()
            m.d.comb += [
                selection.wanted.eq(selected.decoded.operands),
                *(
                    selection.registers[cycle][channel].eq(collector.selected[cycle][channel][index])
                    for cycle in range(READ_CYCLES)
                    for channel in range(CHANNELS)
                ),
                selection.previous.eq(previous[index]),
                selection.uniform.eq(uniform),
                lane.operands.eq(selection.operands),
                lane.control.eq(control),
            ]
        self._write_back(m, lanes, passes, ending)
        return m

    def _row(self, m: Module, context: Value, number: Value | int) -> Value:
        """The row of a pass's previous results."""
        row = Signal((self._timing.passes - 1).bit_length(), name="row_of_pass")
        m.d.comb += row.eq(number)
        return Cat(row, context)

    def _collect(self, m: Module, in_pass: Value, number: Value) -> OperandCollector:
        """Read registers, and give those of the pass."""
        m.submodules.collector = collector = OperandCollector(self._config)
        m.d.comb += [
            collector.phase.eq(self.phase),
            collector.issue.eq(self.issue),
            collector.gprs.eq(self.gprs),
            collector.found.eq(self.registers.found),
            collector.number.eq(number),
            collector.is_first.eq(in_pass[:: self._partition.slice_passes].any()),
            self.registers.reads.eq(collector.reads),
        ]
        return collector

    def _ending(self, m: Module, selected: data.View) -> data.View:
        """The group whose results come, from the cycle `first` of `Intervals` on."""
        timing = self._timing
        load = timing.first - 1
        start = timing.choice + (load - timing.choice) % timing.interval
        layout = ending_layout(self._config)
        before: data.View = record(layout, name="before_ending")
        fields = [before[name].eq(selected[name]) for name in ("context", "chosen", "base", "last")]
        m.d.comb += [*fields, *(before[name].eq(selected.decoded[name]) for name in ("effects", "indices"))]
        for _ in range((load - start) // timing.interval + 1):
            after: data.View = record(layout, name="ending", reset_less=True)
            with m.If(self.phase == timing.phase(load)):
                m.d.sync += after.eq(before)
            before = after
        return before

    def _keep_results(
        self, m: Module, lanes: list[Lane], passes: Value, ending: data.View, row: Value
    ) -> list[data.View]:
        """Hold each lane's results by context and pass. Returns those of a row, a cycle later."""
        contexts, timing = contexts_of(self._config.array), self._timing
        written, previous = one_hot_index(passes), []
        for index, lane in enumerate(lanes):
            m.submodules[f"previous_{index}"] = memory = BlockRam(PREVIOUS, timing.passes * contexts)
            write, read = memory.write_port(), memory.read_port()
            pixels = Cat(ending.chosen[first + index] for first in range(0, self._partition.wavefront, len(lanes)))
            m.d.comb += [
                write.addr.eq(self._row(m, ending.context, written)),
                write.data.eq(lane.results.words),
                write.en.eq((passes & pixels).any()),
                read.addr.eq(row),
            ]
            previous.append(read.data)
        return previous

    def _write_back(self, m: Module, lanes: list[Lane], passes: Value, ending: data.View) -> None:
        """Gather the results of the passes, and write them."""
        m.submodules.gather = gather = ResultGather(self._partition)
        m.submodules.writeback = writeback = WritebackArbiter(self._config)
        end = self.end
        m.d.comb += [
            gather.passes.eq(passes),
            *(gather.lanes[index].eq(lane.results) for index, lane in enumerate(lanes)),
            end.ends.eq(gather.ends),
            end.group.eq(ending),
            end.predicate.eq(gather.predicate),
            end.kill.eq(gather.kill),
            end.addresses.eq(gather.addresses),
            end.results.eq(gather.results),
            writeback.results.eq(gather.results),
            writeback.ending.eq(ending),
            writeback.gates.eq(end.gates),
            writeback.gprs.eq(self.gprs),
            writeback.others.eq(self.registers.others),
            self.registers.writes.eq(writeback.writes),
        ]
