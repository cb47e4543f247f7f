"""Sums of two numbers.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.addition import add, raw_beside_sum
from ctm.rtl.fp.alignment import LOW_BITS, aligned, distance
from ctm.rtl.fp.number import SIGNIFICAND_BITS, exponent, unpack
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay

_RAW_BITS = SIGNIFICAND_BITS + LOW_BITS + 1
_HEADROOM = 1
"""Bits above a term's leading one."""


class Adder(wiring.Component):
    """left + right, or with `double` 2 * left + right, rounded once.

    The rules are those of multiply-add. Latency is `operands` + `alignment` + `addition` + `normalisation` + `rounding`
    + `result` of the configuration; one result per cycle.

    Members
    -------
    left, right : ``In(32)``
    double : ``In(1)``
    result : ``Out(32)``
    """

    left: In(WORD_BITS)
    right: In(WORD_BITS)
    double: In(1)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.latency - config.partial_products - config.product
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        left, right = unpack(m, self.left, name="left"), unpack(m, self.right, name="right")
        shift = distance(m, exponent(left) + self.double, exponent(right), significand_bits=SIGNIFICAND_BITS)
        raw = raw_beside_sum(m, left, right, shift, headroom=_HEADROOM)
        subtract = left.sign != right.sign

        shift, raw = (delay(m, value, config.operands) for value in (shift, raw))
        subtract, first, second = (
            delay(m, value, config.operands) for value in (subtract, left.significand, right.significand)
        )
        swap = shift.shifts_left_term
        larger, smaller = Mux(swap, second, first), aligned(m, Mux(swap, first, second), shift.amount)

        larger, smaller = (delay(m, value, config.alignment) for value in (larger, smaller))
        raw, subtract = delay(m, raw, config.alignment), delay(m, subtract, config.alignment)
        m.submodules.rounding = rounding = Rounding(_RAW_BITS, config)
        m.submodules.result = result = Result(config)
        m.d.comb += [
            rounding.raw.eq(add(m, raw, larger, smaller, subtract)),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
