"""Exports of pixels: their writes of the output registers.

Source: R700-Family Instruction Set Architecture, section 3.4; docs/design/r700-core.md.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import output_write_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH
from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.rtl.r700.memory.selection import SELECTS
from ctm.rtl.r700.passes import by_segment, exporting, segment_context
from ctm.rtl.r700.shapes import SHAPES


class ExportWrite(wiring.Component):
    """The write of a pass of one register of an export, or of half of it. Combinational.

    Members
    -------
    unit : ``In(64)``
        The CF instruction.
    selects : ``Out(ArrayLayout(3, 4))``
    words : ``In(ArrayLayout(ArrayLayout(32, lanes), 4))``
        The register's components that `selects` choose.
    executing : ``In(lanes)``
    burst : ``In(4)``
        The number of the register in the export.
    takes_conditional : ``In(1)``
        The program gives conditional values.
    write : ``Out``
        Without row and beat.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._lanes = lanes = exporting(config).at_once
        super().__init__(
            {
                "unit": In(8 * UNIT_BYTES),
                "selects": Out(SELECTS),
                "words": In(data.ArrayLayout(data.ArrayLayout(WORD_BITS, lanes), CHANNELS)),
                "executing": In(lanes),
                "burst": In(4),
                "takes_conditional": In(1),
                "write": Out(output_write_layout(by_segment(config), SHAPES)),
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


def add_export(executor: Any) -> None:
    """Write the outputs' registers, or the conditional value, pass by pass or half by half."""
    m, unit, current, exporter = executor.m, executor.unit, executor.current, exporting(executor.whole)
    m.submodules.export = export = ExportWrite(executor.whole)
    of_pass = executor.config.at_once // exporter.at_once
    half = Signal((of_pass - 1).bit_length(), name="half_of_pass")
    number = Cat(half, executor.pass_number[: (executor.passes - 1).bit_length()], executor.slice)
    m.d.comb += [
        export.unit.eq(current.unit),
        executor.selection.selects.eq(
            Mux(current.exports, Value.cast(export.selects), Value.cast(executor.fetch.selects))
        ),
        *(
            Value.cast(words).eq(_half(written, half, of_pass))
            for words, written in zip(export.words, executor.selection.written, strict=True)
        ),
        export.burst.eq(executor.burst),
        export.takes_conditional.eq(unit.program.conditional_from_program),
        unit.outputs.eq(export.write),
        unit.outputs.context.eq(segment_context(exporter, number, current.wave)),
    ]
    if exporter.beats > 1:
        m.d.comb += unit.outputs.beat.eq(number)
    with m.State("export"):
        m.d.comb += export.executing.eq(_half(executor.executing, half, of_pass))
        m.d.sync += half.eq(half + 1)
        with m.If(half == of_pass - 1):
            m.d.sync += executor.pass_number.eq(executor.pass_number + 1)
            with m.If(executor.pass_number == executor.passes - 1):
                executor.finish()


def _half(value: Any, number: Value, halves: int) -> Value:
    """One of the halves that a pass is exported in."""
    bits = Value.cast(value)
    return bits.word_select(number, len(bits) // halves)
