"""The presubtract units: a sum or difference of two sources, in front of the operands.

Source: CTM Guide p. 26.
"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.adder import Adder
from rtl.fp.lane import CHANNELS, SCALAR
from rtl.fp.number import ONE, WORD_BITS
from rtl.isa.opcodes import Presubtract

VECTOR = data.ArrayLayout(WORD_BITS, CHANNELS)
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
