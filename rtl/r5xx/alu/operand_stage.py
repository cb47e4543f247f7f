"""The entry of lanes that come at once: from sources to the operand register of all lanes.

Source: CTM Guide pp. 26-27.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.alu.operands import SOURCES, OperandSelection, of_quads
from ctm.rtl.r5xx.alu.presubtract import entry_layout
from ctm.rtl.r5xx.entries import VECTOR, ChannelOperands, LaneControl


class OperandStage(wiring.Component):
    """Selects the operands of all lanes, of one of two instructions that may enter them. Latency is one cycle.

    Choice, selection and register are one unit, so that words of registers pass no further one.

    Members
    -------
    direct : ``In(entry_layout(lanes))``
        An instruction that does not presubtract.
    presubtracted : ``In(entry_layout(lanes))``
        One that does.
    presubtracts : ``In(1)``
        The second one enters.
    results : ``In(ArrayLayout(VECTOR, lanes))``
        Its srcp.
    control : ``Out(LaneControl)``
    operands : ``Out(ArrayLayout(ArrayLayout(ChannelOperands, 4), lanes))``
    """

    latency = 1

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        entry, operands = entry_layout(lanes), data.ArrayLayout(ChannelOperands, CHANNELS)
        super().__init__(
            {
                "direct": In(entry),
                "presubtracted": In(entry),
                "presubtracts": In(1),
                "results": In(data.ArrayLayout(VECTOR, lanes)),
                "control": Out(LaneControl),
                "operands": Out(data.ArrayLayout(operands, lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entering = Signal(entry_layout(self._lanes))
        m.d.comb += [
            entering.eq(Mux(self.presubtracts, Value.cast(self.presubtracted), Value.cast(self.direct))),
            self.control.eq(delay(m, entering.control)),
        ]
        sources = entering.sources
        quads = of_quads(m, entering.words, list(sources))
        for lane in range(self._lanes):
            m.submodules[f"selection_{lane}"] = selection = OperandSelection()
            m.d.comb += [
                selection.words.eq(entering.words),
                *(Value.cast(own).eq(word) for own, word in zip(selection.quad, quads[lane // QUAD], strict=True)),
                *(selection.sources[number].eq(sources[lane][number]) for number in range(SOURCES - 1)),
                selection.sources[SOURCES - 1].eq(self.results[lane]),
                self.operands[lane].eq(delay(m, selection.operands)),
            ]
        return m
