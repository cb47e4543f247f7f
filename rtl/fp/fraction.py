"""FRC as a sum: a - floor(a) is the fraction of |a|, or for a negative `a` 1 minus that.

Rounded towards zero, so never 1. Source: CTM Guide p. 28; docs/arithmetic.md.
"""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, SIGNIFICAND_BITS, Operand, unpack
from ctm.rtl.fp.product_sum import RAW_BITS, ProductSum
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.views import record


def fraction_bits(m: Module, a: Operand) -> Operand:
    """`a` without the bits of its integer part, not normalised; a NaN for an infinity too. `zero` is that of `a`."""
    bits = record(Operand, name="fraction_bits")
    # Bit i of the significand has a weight below 1 if a < 2^(23 - i).
    below_one = Cat(a.exponent < BIAS + SIGNIFICAND_BITS - 1 - index for index in range(SIGNIFICAND_BITS))
    m.d.comb += [
        bits.eq(a),
        bits.significand.eq(a.significand & below_one),
        bits.nan.eq(a.nan | a.infinite),
        bits.infinite.eq(0),
    ]
    return bits


class Fraction(wiring.Component):
    """FRC as a unit of its own.

    Latency is that of the configuration; one result per cycle.

    Members
    -------
    word : ``In(32)``
    result : ``Out(32)``
    """

    word: In(WORD_BITS)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.product_sum = product_sum = ProductSum(self._config)
        m.submodules.rounding = rounding = Rounding(RAW_BITS, self._config)
        m.submodules.result = result = Result(self._config)
        m.d.comb += [
            product_sum.addend.eq(fraction_bits(m, unpack(m, self.word, name="word"))),
            product_sum.fraction.eq(1),
            rounding.raw.eq(product_sum.raw),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
