"""Sums of two numbers.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.addition import add_in_order, raw_beside_sum
from ctm.rtl.fp.alignment import LOW_BITS, aligned, distance
from ctm.rtl.fp.number import BIAS, SIGNIFICAND_BITS, Word, unpack
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import view

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
        # With their bias: a zero has the smallest one, and no bits to shift. A zero that is doubled has the next one.
        left_exponent, right_exponent = left.exponent + self.double, right.exponent
        shift = distance(m, left_exponent, right_exponent, significand_bits=SIGNIFICAND_BITS)
        # Of one exponent, the term with the larger significand is the minuend, so that no difference is negative.
        left_bits = Cat(view(Word, self.left).fraction, ~left.zero)
        right_bits = Cat(view(Word, self.right).fraction, 1)
        swap = shift.shifts_left_term | ((left_exponent == right_exponent) & (left_bits < right_bits))
        ordered = Signal.like(shift)
        m.d.comb += [ordered.eq(shift), ordered.shifts_left_term.eq(swap)]
        raw = raw_beside_sum(m, left, right, ordered, headroom=_HEADROOM - BIAS)
        subtract = left.sign != right.sign

        swap, amount = (delay(m, value, config.operands) for value in (swap, shift.amount))
        raw = delay(m, raw, config.operands)
        subtract, first, second = (
            delay(m, value, config.operands) for value in (subtract, left.significand, right.significand)
        )
        larger, smaller = Mux(swap, second, first), aligned(m, Mux(swap, first, second), amount)

        larger, smaller = (delay(m, value, config.alignment) for value in (larger, smaller))
        raw, subtract = delay(m, raw, config.alignment), delay(m, subtract, config.alignment)
        m.submodules.rounding = rounding = Rounding(_RAW_BITS, config)
        m.submodules.result = result = Result(config)
        m.d.comb += [
            rounding.raw.eq(add_in_order(m, raw, larger, smaller, subtract)),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
