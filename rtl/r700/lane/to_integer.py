"""FLT_TO_INT and FLT_TO_UINT.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, SIGNIFICAND_BITS, unpack
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_right_sticky

_AMOUNT_BITS = (WORD_BITS - 1).bit_length()
_HIGHEST = BIAS + WORD_BITS - 1
"""Biased exponent of 2^31."""
_MOST = (1 << WORD_BITS) - 1
_MOST_SIGNED = _MOST >> 1


class ToInteger(wiring.Component):
    """Truncates a float to an integer, saturated; NaN is 0.

    Latency is `operands` (the shift's distance), `partial_products` (shift) and `product` (sign, saturation). It takes
    an operand in each cycle.

    Members
    -------
    word : ``In(32)``
    is_signed : ``In(1)``
    result : ``Out(32)``
    """

    word: In(WORD_BITS)
    is_signed: In(1)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.operands + config.partial_products + config.product
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        operand = unpack(m, self.word, name="operand")
        distance = Signal(EXPONENT_BITS + 1)
        m.d.comb += distance.eq(_HIGHEST - operand.exponent)
        is_large = distance[-1]
        is_zero = operand.nan | (distance[_AMOUNT_BITS:].any() & ~is_large) | (operand.sign & ~self.is_signed)
        amount, significand, *flags = (
            delay(m, value, config.operands, name="distance")
            for value in (
                distance[:_AMOUNT_BITS],
                operand.significand,
                operand.sign,
                is_large,
                is_zero,
                self.is_signed,
            )
        )
        word = Cat(Const(0, WORD_BITS - SIGNIFICAND_BITS), significand)
        shifted, _ = shift_right_sticky(m, word, amount)
        magnitude, negative, is_large, is_zero, is_signed = (
            delay(m, value, config.partial_products, name="magnitude") for value in (shifted, *flags)
        )
        # -2^31 saturates to itself.
        beyond = is_large | (is_signed & magnitude[-1])
        most = Mux(is_signed, Mux(negative, _MOST_SIGNED + 1, _MOST_SIGNED), _MOST)
        signed_magnitude = ((magnitude ^ negative.replicate(WORD_BITS)) + negative)[:WORD_BITS]
        result = Mux(is_zero, 0, Mux(beyond, most, signed_magnitude))
        m.d.comb += self.result.eq(delay(m, result, config.product, name="result"))
        return m
