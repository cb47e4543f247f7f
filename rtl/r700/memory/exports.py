"""Exports of pixels: their writes of the output registers.

Source: R700-Family Instruction Set Architecture, section 3.4; docs/design/r700-core.md.
"""

from amaranth import Cat, Module
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
from ctm.rtl.r700.passes import by_segment, exporting
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
