"""The ALU of wavefronts that have one beat: from sources to results of all lanes.

Source: CTM Guide pp. 26-32.
"""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.function_table import share_tables
from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay_valid
from ctm.rtl.r5xx.alu.lane import Lane
from ctm.rtl.r5xx.alu.operand_stage import OperandStage
from ctm.rtl.r5xx.alu.presubtract import PresubtractStage, entry_layout
from ctm.rtl.r5xx.entries import VECTOR


class Alu(wiring.Component):
    """Computes the results of ALU and OUTPUT instructions for a wavefront's lanes.

    Latency is `direct_latency`, that of the operand register and of the lane. An instruction that presubtracts takes
    `presubtract_latency` more, in all `latency`. One instruction per cycle may start and one may enter the lanes: one
    that does not presubtract must not start `presubtract_latency` cycles after one that does.

    Members
    -------
    presubtracts : ``In(1)``
        An instruction starts that presubtracts. 0 if none starts.
    words : ``In(INSTRUCTION)``
    control : ``In(LaneControl)``
        The decoded instruction.
    sources : ``In(ArrayLayout(ArrayLayout(VECTOR, 3), lanes))``
        src0, src1, src2; colours from the RGB unit's addresses, alpha from the alpha unit's.
    results : ``Out(ArrayLayout(VECTOR, lanes))``
    comparisons : ``Out(ArrayLayout(ArrayLayout(Comparison, 4), lanes))``
    """

    def __init__(self, lanes: int, config: PipelineConfig, presubtract: PipelineConfig) -> None:
        self._lanes = lanes
        self._presubtract = PresubtractStage(lanes, presubtract)
        self._arithmetic = [Lane(config) for _ in range(lanes)]
        self.presubtract_latency = self._presubtract.latency
        self.direct_latency = OperandStage.latency + self._arithmetic[0].latency
        self.latency = self.presubtract_latency + self.direct_latency
        super().__init__(
            {
                "presubtracts": In(1),
                **{name: In(field.shape) for name, field in entry_layout(lanes)},
                "results": Out(data.ArrayLayout(VECTOR, lanes)),
                "comparisons": Out(data.ArrayLayout(data.ArrayLayout(Comparison, CHANNELS), lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        cycles = self.presubtract_latency
        m.submodules.presubtract = presubtract = GatedStateless(self._presubtract, cycles)
        given = Signal(entry_layout(self._lanes))
        m.submodules.stage = stage = OperandStage(self._lanes)
        m.d.comb += [
            *(given[name].eq(getattr(self, name)) for name, _ in given.shape()),
            presubtract.entry.eq(given),
            presubtract.wanted.eq(self.presubtracts),
            stage.direct.eq(given),
            stage.presubtracted.eq(presubtract.delayed),
            stage.presubtracts.eq(delay_valid(m, self.presubtracts, cycles)[-1]),
            stage.results.eq(presubtract.results),
        ]
        self._arithmetic[0].gate_together(m, platform, stage.control)
        share_tables(m, [lane.functions for lane in self._arithmetic])
        for lane, arithmetic in enumerate(self._arithmetic):
            m.submodules[f"lane_{lane}"] = arithmetic
            m.d.comb += [
                arithmetic.operands.eq(stage.operands[lane]),
                arithmetic.control.eq(stage.control),
                self.results[lane].eq(arithmetic.results),
                self.comparisons[lane].eq(arithmetic.comparisons),
            ]
        return m
