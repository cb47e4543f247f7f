"""Window coordinates to 1/256 pixel.

Source: docs/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import WINDOW_BITS
from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, SIGNIFICAND_BITS, unpack
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_right_sticky

_FRACTION_BITS = 8
_LIMIT = BIAS + WINDOW_BITS - 2 - _FRACTION_BITS
"""The exponent from which on a word is beyond the limit, 2^23 of 1/256."""


class Snap(wiring.Component):
    """256 times a word, rounded to the nearest integer, ties to even; beyond 2^23 it is 2^23 of its sign.

    Latency is two cycles. A NaN is -2^23.

    Members
    -------
    word : ``In(32)``
    value : ``Out(signed(WINDOW_BITS))``
    finite : ``Out(1)``
        Whether the word is neither an infinity nor a NaN.
    """

    word: In(WORD_BITS)
    value: Out(signed(WINDOW_BITS))
    finite: Out(1)

    latency = 2

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operand = unpack(m, self.word, name="operand")
        exponent: Value = Value.cast(operand.exponent)
        # Below the limit the significand goes right by at least one digit, after which is the bit that rounds.
        amount, beyond = Signal(range(SIGNIFICAND_BITS + 2)), exponent >= _LIMIT
        distance = Signal(EXPONENT_BITS)
        m.d.comb += [
            distance.eq(_LIMIT - exponent),
            amount.eq(Mux(distance > SIGNIFICAND_BITS + 1, SIGNIFICAND_BITS + 1, distance)),
        ]
        shifted, sticky = shift_right_sticky(m, Cat(Const(0, 1), operand.significand), amount)
        shifted, sticky, beyond, sign, finite = (
            delay(m, value)
            for value in (shifted, sticky, beyond, operand.sign | operand.nan, ~operand.infinite & ~operand.nan)
        )
        magnitude = Signal(WINDOW_BITS - 1)
        with m.If(beyond):
            m.d.comb += magnitude.eq(1 << WINDOW_BITS - 2)
        with m.Else():
            m.d.comb += magnitude.eq(shifted[1:] + (shifted[0] & (sticky | shifted[1])))
        value = Signal.like(self.value)
        m.d.comb += [value.eq(Mux(sign, -magnitude, magnitude)), self.value.eq(delay(m, value, name="value"))]
        m.d.comb += self.finite.eq(delay(m, finite, name="finite"))
        return m
