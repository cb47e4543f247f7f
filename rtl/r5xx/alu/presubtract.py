"""The presubtract units: a sum or difference of two sources, which operands may name.

Source: CTM Guide p. 26.
"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.adder import Adder
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, INSTRUCTION, RGB_ADDR
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES, SCALAR
from ctm.rtl.isa.r5xx.opcodes import Presubtract
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.entries import VECTOR, LaneControl

_SIGN = 1 << (WORD_BITS - 1)


class PresubtractUnit(wiring.Component):
    """Computes srcp of all channels: BIAS 1 - 2 src0, SUB src1 - src0, ADD src1 + src0, INV 1 - src0.

    Latency is the adder's; one instruction per cycle.

    Members
    -------
    source0, source1 : ``In(VECTOR)``
    rgb, alpha : ``In(Presubtract)``
        Operation of channels 0 to 2 and of channel 3.
    result : ``Out(VECTOR)``
    """

    source0: In(VECTOR)
    source1: In(VECTOR)
    rgb: In(Presubtract)
    alpha: In(Presubtract)
    result: Out(VECTOR)

    def __init__(self, config: PipelineConfig) -> None:
        self._adders = [Adder(config) for _ in range(CHANNELS)]
        self.latency = self._adders[0].latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        for channel, adder in enumerate(self._adders):
            m.submodules[f"adder_{channel}"] = adder
            operation = self.alpha if channel == SCALAR else self.rgb
            source0, source1 = self.source0[channel], self.source1[channel]
            with m.Switch(operation):
                with m.Case(Presubtract.BIAS, Presubtract.INV):
                    m.d.comb += [
                        adder.left.eq(source0 ^ _SIGN),
                        adder.right.eq(ONE),
                        adder.double.eq(operation == Presubtract.BIAS),
                    ]
                with m.Case(Presubtract.SUB):
                    m.d.comb += [adder.left.eq(source1), adder.right.eq(source0 ^ _SIGN)]
                with m.Case(Presubtract.ADD):
                    m.d.comb += [adder.left.eq(source1), adder.right.eq(source0)]
            m.d.comb += self.result[channel].eq(adder.result)
        return m


def entry_layout(lanes: int) -> data.StructLayout:
    """An instruction that is to enter the lanes: its words, what is decoded of them, and src0 to src2 of all lanes.

    Of a source the colours are from the RGB unit's addresses, alpha from the alpha unit's.
    """
    return data.StructLayout(
        {
            "words": INSTRUCTION,
            "control": LaneControl,
            "sources": data.ArrayLayout(data.ArrayLayout(VECTOR, ALU_SOURCES), lanes),
        }
    )


class PresubtractStage(wiring.Component):
    """The presubtract units of all lanes; the instruction comes out beside their results.

    Latency is that of the units; one instruction per cycle.

    Members
    -------
    entry : ``In(entry_layout(lanes))``
    delayed : ``Out(entry_layout(lanes))``
    results : ``Out(ArrayLayout(VECTOR, lanes))``
        srcp.
    """

    def __init__(self, lanes: int, config: PipelineConfig) -> None:
        self._units = [PresubtractUnit(config) for _ in range(lanes)]
        self.latency = self._units[0].latency
        entry = entry_layout(lanes)
        results = data.ArrayLayout(VECTOR, lanes)
        super().__init__({"entry": In(entry), "delayed": Out(entry), "results": Out(results)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = self.entry.words
        m.d.comb += self.delayed.eq(delay(m, self.entry, self.latency, name="entry"))
        for lane, unit in enumerate(self._units):
            m.submodules[f"unit_{lane}"] = unit
            m.d.comb += [
                unit.source0.eq(self.entry.sources[lane][0]),
                unit.source1.eq(self.entry.sources[lane][1]),
                unit.rgb.eq(RGB_ADDR(words[1]).srcp_op),
                unit.alpha.eq(ALPHA_ADDR(words[2]).srcp_op),
                self.results[lane].eq(unit.result),
            ]
        return m
