"""The ALU of one processor: from sources to results.

Source: CTM Guide pp. 26-32.
"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.dpp.alu_control import INSTRUCTION
from rtl.dpp.operands import SOURCES, OperandSelection
from rtl.dpp.presubtract import VECTOR, PresubtractUnit
from rtl.fp.lane import CHANNELS, Lane, LaneControl
from rtl.fp.zero_test import Comparison
from rtl.isa.instruction import ALPHA_ADDR, RGB_ADDR
from rtl.lib.pipeline import delay


class Alu(wiring.Component):
    """Computes the results of an ALU or OUTPUT instruction for one processor.

    Latency is that of the presubtract unit, of the operand register and of the lane; one instruction per cycle.

    Members
    -------
    words : ``In(INSTRUCTION)``
    control : ``In(LaneControl)``
        The instruction decoded.
    sources : ``In(ArrayLayout(VECTOR, 3))``
        src0, src1, src2; colours from the RGB unit's addresses, alpha from the alpha unit's.
    quad : ``In(ArrayLayout(VECTOR, 3))``
        src0 of lanes 0, 1 and 2 of the quad.
    results : ``Out(VECTOR)``
    comparisons : ``Out(ArrayLayout(Comparison, 4))``
    """

    words: In(INSTRUCTION)
    control: In(LaneControl)
    sources: In(data.ArrayLayout(VECTOR, SOURCES - 1))
    quad: In(data.ArrayLayout(VECTOR, 3))
    results: Out(VECTOR)
    comparisons: Out(data.ArrayLayout(Comparison, CHANNELS))

    def __init__(self, config: PipelineConfig, presubtract: PipelineConfig) -> None:
        self._presubtract = PresubtractUnit(presubtract)
        self._lane = Lane(config)
        self.latency = self._presubtract.latency + 1 + self._lane.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.presubtract = presubtract = self._presubtract
        m.submodules.selection = selection = OperandSelection()
        m.submodules.lane = lane = self._lane
        cycles = presubtract.latency
        m.d.comb += [
            presubtract.source0.eq(self.sources[0]),
            presubtract.source1.eq(self.sources[1]),
            presubtract.rgb.eq(RGB_ADDR(self.words[1]).srcp_op),
            presubtract.alpha.eq(ALPHA_ADDR(self.words[2]).srcp_op),
            selection.words.eq(delay(m, self.words, cycles)),
            selection.quad.eq(delay(m, self.quad, cycles)),
            *(selection.sources[number].eq(delay(m, self.sources[number], cycles)) for number in range(SOURCES - 1)),
            selection.sources[SOURCES - 1].eq(presubtract.result),
            lane.operands.eq(delay(m, selection.operands)),
            lane.control.eq(delay(m, self.control, cycles + 1)),
            self.results.eq(lane.results),
            self.comparisons.eq(lane.comparisons),
        ]
        return m
