"""The ALU of wavefronts that come in beats: from sources to results of one beat's lanes.

Source: CTM Guide pp. 26-32.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig, PipelineConfig
from ctm.rtl.dpp.beats import beat_bits
from ctm.rtl.fp.function_table import share_tables
from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.rtl.isa.r5xx.instruction import INSTRUCTION
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES, SCALAR
from ctm.rtl.isa.r5xx.opcodes import Presubtract
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.delay_line import DelayLine
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.alu.lane import Lane
from ctm.rtl.r5xx.alu.operands import SOURCES, OperandSelection, of_quads
from ctm.rtl.r5xx.alu.presubtract import PresubtractUnit
from ctm.rtl.r5xx.entries import VECTOR, LaneControl

_RIGHT, _ABOVE = 1, 2
"""Lanes of a quad from which a derivative takes its operand c."""


def entering_layout(config: ArrayConfig) -> data.StructLayout:
    """The beat that enters the lanes in the next cycle: a row of block RAM is read one cycle before it is used.

    `presubtracted`: its instruction presubtracts. `above`, of the two halves: it takes a derivative of lane 2, not of
    lane 1.
    """
    above = data.StructLayout({"rgb": 1, "alpha": 1})
    return data.StructLayout({"presubtracted": 1, "beat": beat_bits(config), "above": above})


class BeatAlu(wiring.Component):
    """Computes the results of ALU and OUTPUT instructions for a beat's lanes in each cycle.

    A beat enters the lanes `beats` cycles after its sources have come, when those of its quad are there, or
    `presubtract_latency` more if it presubtracts. Until then sources are in block RAM. Presubtract units begin with
    them, a cycle after they have come. From the entry on the latency is that of the operand register and of the lane.
    Two instructions must not enter in one cycle.

    Members
    -------
    sources : ``In(ArrayLayout(ArrayLayout(VECTOR, 3), lanes))``
        src0, src1, src2; colours from the RGB unit's addresses, alpha from the alpha unit's.
    presubtracts, rgb, alpha : ``In(1)``, ``In(Presubtract)``
        A cycle after the sources: whether they are those of an instruction that presubtracts, and its operations.
    entering : ``In(entering_layout(config))``
    words, control : ``In(INSTRUCTION)``, ``In(LaneControl)``
        The instruction of the beat that enters, in the cycle of its entry.
    results : ``Out(ArrayLayout(VECTOR, lanes))``
    comparisons : ``Out(ArrayLayout(ArrayLayout(Comparison, 4), lanes))``
    """

    def __init__(self, array: ArrayConfig, config: PipelineConfig, presubtract: PipelineConfig) -> None:
        self._lanes, self._beats = array.at_once, array.beats
        self._arithmetic = [Lane(config) for _ in range(self._lanes)]
        self._presubtract = [PresubtractUnit(presubtract) for _ in range(self._lanes)]
        self.presubtract_latency = max(0, 1 + self._presubtract[0].latency - self._beats)
        self.direct_latency = 1 + self._arithmetic[0].latency
        super().__init__(
            {
                "sources": In(data.ArrayLayout(data.ArrayLayout(VECTOR, ALU_SOURCES), self._lanes)),
                "presubtracts": In(1),
                "rgb": In(Presubtract),
                "alpha": In(Presubtract),
                "entering": In(entering_layout(array)),
                "words": In(INSTRUCTION),
                "control": In(LaneControl),
                "results": Out(data.ArrayLayout(VECTOR, self._lanes)),
                "comparisons": Out(data.ArrayLayout(data.ArrayLayout(Comparison, CHANNELS), self._lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        quad_beats, latest = -(-QUAD // self._lanes), self._beats + self.presubtract_latency
        line = DelayLine(m, latest + quad_beats - 1)
        cycles = Mux(self.entering.presubtracted, latest, self._beats)
        vectors = self.sources.shape()
        sources = data.View(vectors, line.read(m, Value.cast(self.sources), cycles, name="sources_line"))
        presubtracted = self._presubtracted(m)
        quads = [self._quad(m, line, cycles)] if quad_beats > 1 else of_quads(m, self.words, list(sources))
        control = delay(m, self.control)
        self._arithmetic[0].gate_together(m, platform, control)
        share_tables(m, [lane.functions for lane in self._arithmetic])
        for lane, arithmetic in enumerate(self._arithmetic):
            selection = OperandSelection()
            m.submodules[f"selection_{lane}"], m.submodules[f"lane_{lane}"] = selection, arithmetic
            m.d.comb += [
                selection.words.eq(self.words),
                *(Value.cast(own).eq(word) for own, word in zip(selection.quad, quads[lane // QUAD], strict=True)),
                *(selection.sources[number].eq(sources[lane][number]) for number in range(SOURCES - 1)),
                selection.sources[SOURCES - 1].eq(presubtracted[lane]),
                arithmetic.operands.eq(delay(m, selection.operands)),
                arithmetic.control.eq(control),
                self.results[lane].eq(arithmetic.results),
                self.comparisons[lane].eq(arithmetic.comparisons),
            ]
        return m

    def _presubtracted(self, m: Module) -> list[data.View]:
        """Of all lanes srcp, in the cycle of the entry."""
        found = []
        for lane, own in enumerate(self._presubtract):
            m.submodules[f"presubtract_{lane}"] = unit = GatedStateless(own, own.latency)
            m.d.comb += [
                unit.wanted.eq(self.presubtracts),
                unit.source0.eq(delay(m, self.sources[lane][0], name="source")),
                unit.source1.eq(delay(m, self.sources[lane][1], name="source")),
                unit.rgb.eq(self.rgb),
                unit.alpha.eq(self.alpha),
            ]
            spare = self._beats + self.presubtract_latency - 1 - own.latency
            found.append(delay(m, unit.result, spare, name="presubtracted"))
        return found

    def _quad(self, m: Module, line: DelayLine, cycles: Value) -> list[Value]:
        """Of the quad src0 of lane 0, and of each half's neighbour: in the cycle of the entry."""
        lanes = self._lanes
        since_first = cycles + self.entering.beat[: (QUAD // lanes - 1).bit_length()]
        first = line.read(m, Value.cast(self.sources[0][0]), since_first, name="first_line")
        neighbour = []
        for half, channels in (("rgb", range(SCALAR)), ("alpha", range(SCALAR, CHANNELS))):
            above = self.entering.above[half]
            words = [Cat(self.sources[lane][0][channel] for channel in channels) for lane in range(lanes)]
            read = line.read(
                m, Cat(words), since_first - Mux(above, _ABOVE // lanes, _RIGHT // lanes),
                least=self._beats - _ABOVE // lanes, name=f"{half}_line",
            )  # fmt: skip
            lane = Signal(range(QUAD), name="lane", reset_less=True)
            m.d.sync += lane.eq(Mux(above, _ABOVE % lanes, _RIGHT % lanes))
            neighbour.append(read.word_select(lane, len(words[0])))
        return [first, Cat(neighbour)]
