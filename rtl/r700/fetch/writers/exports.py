"""Exports of pixels: their writes of the output registers.

Source: R700-Family Instruction Set Architecture, section 3.4; docs/design/r700-core.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import OutputSizes, output_write_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH
from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.rtl.r700.fetch.micro_op import micro_op_layout
from ctm.rtl.r700.fetch.selection import SELECTS, pass_words_layout
from ctm.rtl.r700.partition import Partition, segment_outputs
from ctm.rtl.r700.shapes import SHAPES


class ExportWrite(wiring.Component):
    """The write of the output registers by a pass of an export, or by half of one. Combinational.

    Members
    -------
    unit : ``In(64)``
        The CF instruction.
    selects : ``Out(SELECTS)``
    words : ``In(ArrayLayout(ArrayLayout(32, lanes), 4))``
        The register's components that `selects` choose, as [channel][lane].
    executing : ``In(lanes)``
        Lanes that write.
    burst : ``In(4)``
        The number of the register in the export.
    takes_conditional : ``In(1)``
        The program gives conditional values.
    write : ``Out(output_write_layout(sizes, SHAPES))``
        Without `context` and `beat`.
    """

    def __init__(self, sizes: OutputSizes) -> None:
        self._lanes = lanes = sizes.at_once
        super().__init__(
            {
                "unit": In(8 * UNIT_BYTES),
                "selects": Out(SELECTS),
                "words": In(data.ArrayLayout(data.ArrayLayout(WORD_BITS, lanes), CHANNELS)),
                "executing": In(lanes),
                "burst": In(4),
                "takes_conditional": In(1),
                "write": Out(output_write_layout(sizes, SHAPES)),
            }
        )

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        low = data.View(exports.EXPORT_DWORD0, self.unit[:WORD_BITS])
        high = data.View(exports.EXPORT_DWORD1_SWIZ, self.unit[WORD_BITS:])
        is_depth, write = low.array_base == COMPUTED_DEPTH, self.write
        m.d.comb += [target.eq(low.array_base + self.burst) for target in write.targets]
        m.d.comb += self.selects.eq(Cat(high[f"sel_{component}"] for component in "xyzw"))
        for lane in range(self._lanes):
            for channel in range(CHANNELS):
                select = self.selects[channel]
                writes = self.executing[lane] & (select != ComponentSelect.MASK.value)
                m.d.comb += [
                    write.words[lane][channel].eq(self.words[channel][lane]),
                    write.enable[lane][channel].eq(writes & ~is_depth),
                ]
                if not channel:
                    m.d.comb += [
                        write.values[lane].eq(write.words[lane][channel]),
                        write.conditional[lane].eq(writes & is_depth & self.takes_conditional),
                    ]
        return m


class OutputExport(wiring.Component):
    """Writes one register of an export to the output registers, or as conditional values, pass by pass.

    A pass takes a cycle, or two where half of one is written (`segment_outputs`), whether a pixel executes or not.

    Members
    -------
    start : ``In(1)``
        High from the first cycle to that of `done`.
    current : ``In(micro_op_layout(config))``
    takes_conditional : ``In(1)``
        The program gives conditional values.
    selects : ``Out(SELECTS)``
        The components of the source that are written.
    pass_number : ``Out(partition.slice_pass_bits)``
        The pass that is read in the same cycle.
    written : ``In(pass_words_layout(lanes))``
        The components of that pass that `selects` choose.
    write : ``Out(output_write_layout(segment_outputs(config), SHAPES))``
    done : ``Out(1)``
        The last cycle.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._partition, self._sizes = Partition.of(config), segment_outputs(config)
        super().__init__(
            {
                "start": In(1),
                "current": In(micro_op_layout(config)),
                "takes_conditional": In(1),
                "selects": Out(SELECTS),
                "pass_number": Out(self._partition.slice_pass_bits),
                "written": In(pass_words_layout(self._partition.lanes)),
                "write": Out(output_write_layout(self._sizes, SHAPES)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        current, partition, lanes = self.current, self._partition, self._sizes.at_once
        m.submodules.export = export = ExportWrite(self._sizes)
        writes = partition.slice // lanes
        count = Signal(range(max(2, writes)), name="count")
        """Writes of the slice that are done."""
        in_pass = count[: (partition.lanes // lanes - 1).bit_length()]
        number = Cat(count[: (writes - 1).bit_length()], current.slice)
        pixel = Cat(Const(0, (lanes - 1).bit_length()), number)
        executing = Value.cast(current.clause.executing).word_select(count, lanes)
        m.d.comb += [
            self.selects.eq(export.selects),
            self.pass_number.eq(count >> len(in_pass)),
            export.unit.eq(current.clause.unit),
            export.burst.eq(current.burst),
            export.takes_conditional.eq(self.takes_conditional),
            export.executing.eq(Mux(self.start, executing, 0)),
            *(
                Value.cast(words).eq(Value.cast(written).word_select(in_pass, len(Value.cast(words))))
                for words, written in zip(export.words, self.written, strict=True)
            ),
            self.write.eq(export.write),
            self.write.context.eq(partition.segment_row(pixel, current.clause.wave)),
            self.done.eq(self.start & (count == writes - 1)),
        ]
        if self._sizes.beats > 1:
            m.d.comb += self.write.beat.eq(number)
        with m.If(self.start):
            m.d.sync += count.eq(Mux(self.done, 0, count + 1))
        return m
