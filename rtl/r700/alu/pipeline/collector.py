"""The operand collector: reads the registers of a group, and gives them pass by pass.

Source: R700-Family Instruction Set Architecture, section 4.7; docs/design/r700-core.md.
"""

from amaranth import Array, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import READ_CYCLES
from ctm.rtl.r700.alu.decode import offset_of
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.pipeline.issued import issue_layout
from ctm.rtl.r700.border.registers import register_address_layout, register_words_layout
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.partition import PERIOD, Partition
from ctm.rtl.r700.registers.addressing import register_address, slice_base
from ctm.rtl.r700.registers.file import masked


def pass_registers_layout(lanes: int) -> data.ArrayLayout:
    """The register words of a pass, as [read cycle][channel][lane]."""
    return data.ArrayLayout(data.ArrayLayout(data.ArrayLayout(WORD_BITS, lanes), CHANNELS), READ_CYCLES)


class OperandCollector(wiring.Component):
    """Reads three registers of each channel for every slice, and gives the words of one pass after the other.

    A slice is read in the first three of its four cycles, the first slice in the first cycles of the interval. From the
    cycle `choice` of `Intervals` on, the fourth one, its passes are selected, one in each cycle, while the next slice
    is read. A register that was not written reads 0.

    Members
    -------
    phase : ``In(range(Intervals.interval))``
        The cycle of the interval.
    issue : ``In(issue_layout(config))``
        The group that is read; stable in an interval.
    gprs : ``In(8)``
        The program's.
    reads : ``Out(ArrayLayout(register_address_layout(array), 4))``
        In the first three of every four cycles.
    found : ``In(register_words_layout(Partition.of(array)))``
        A cycle later.
    number : ``In(pass in its slice)``
        The pass, counted in its slice, that is selected in this cycle.
    is_first : ``In(1)``
        It is the first of its slice.
    selected : ``Out(pass_registers_layout(lanes))``
        Its words, in the same cycle.
    """

    def __init__(self, config: MachineConfig) -> None:
        array = config.array
        self._config, self._partition = array, Partition.of(array)
        self._timing = intervals_of(array, lane_latency(config.arithmetic))
        super().__init__(
            {
                "phase": In(range(self._timing.interval)),
                "issue": In(issue_layout(config)),
                "gprs": In(8),
                "reads": Out(data.ArrayLayout(register_address_layout(array), CHANNELS)),
                "found": In(register_words_layout(self._partition)),
                "number": In((self._partition.slice_passes - 1).bit_length()),
                "is_first": In(1),
                "selected": Out(pass_registers_layout(self._partition.lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        step = self.phase[: (PERIOD - 1).bit_length()]
        self._read(m, step)
        for cycle, row in enumerate(self._keep(m, step)):
            self._select(m, cycle, row)
        return m

    def _read(self, m: Module, step: Value) -> None:
        """Drive the addresses."""
        issue, indices = self.issue, self.issue.decoded.indices
        number, ends = self.phase[len(step) :], step == PERIOD - 1
        base = slice_base(m, self._partition, issue.base, number, ends, gprs=self.gprs, name="read")
        for channel in range(CHANNELS):
            port = Signal(issue.decoded.ports[0][0].shape(), name=f"port_{channel}")
            cycles = map(Value.cast, (cycle[channel] for cycle in issue.decoded.ports))
            m.d.comb += port.eq(Array(cycles)[step])
            offset = offset_of(m, indices, Value.cast(port.mode))
            address = register_address(
                m, self._config, port.number, offset, port.relative, gprs=self.gprs, base=base
            )  # fmt: skip
            m.d.comb += self.reads[channel].eq(address)

    def _keep(self, m: Module, step: Value) -> list[list[Value]]:
        """The words of each cycle and channel, all valid in the cycle `choice`; the last are the file's outputs."""
        words = [Value.cast(self.found.words[channel]) for channel in range(CHANNELS)]
        rows: list[list[Value]] = []
        for cycle in range(READ_CYCLES - 1):
            held = [Signal(len(word), name=f"row_{cycle}", reset_less=True) for word in words]
            comes = step == cycle + 1
            for target, word, is_valid in zip(held, words, self.found.valid, strict=True):
                with m.If(comes):
                    m.d.sync += target.eq(word)
                # Each has a reset of its own: flip-flops have no multiplexer that all rows share.
                with m.If(comes & ~is_valid):
                    m.d.sync += target.eq(0)
            rows.append(list(held))
        assert self._timing.choice == READ_CYCLES
        return [*rows, words]

    def _select(self, m: Module, cycle: int, row: list[Value]) -> None:
        """Select the pass of a cycle's words.

        While a slice's last pass is selected, words of the next one's first cycle have come already. Those of the last
        cycle come while its first pass is selected.
        """
        width, last = self._partition.lanes * WORD_BITS, self._partition.slice_passes - 1
        passing = {0: range(max(last, 1), last + 1), READ_CYCLES - 1: range(1, last + 1)}.get(cycle, range(0))
        for channel, words in enumerate(row):
            # The file's outputs still hold the words of the last cycle.
            is_valid = self.found.valid[channel] if cycle == READ_CYCLES - 1 else Const(1)
            by_pass = [words[first : first + width] for first in range(0, len(words), width)]
            for later in passing:
                kept = Signal(width, name=f"kept_{cycle}_{channel}_{later}", reset_less=True)
                with m.If(self.is_first):
                    m.d.sync += kept.eq(masked(by_pass[later], is_valid))
                by_pass[later] = kept
            by_pass[0] &= is_valid.replicate(width)
            m.d.comb += Value.cast(self.selected[cycle][channel]).eq(Array(by_pass)[self.number])
