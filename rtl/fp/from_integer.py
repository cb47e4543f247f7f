"""Integers of any width as words.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, FRACTION_BITS, SIGNIFICAND_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.shift import shift_left
from ctm.rtl.lib.zeros import leading_zeros

_LEAST_BITS, _MOST_BITS = SIGNIFICAND_BITS + 2, 128


class FromInteger(wiring.Component):
    """A signed integer, rounded to the nearest word, ties to even. 0 gives +0.

    Latency is three cycles, throughput one result in each cycle.

    Members
    -------
    number : ``In(signed(bits))``
    result : ``Out(32)``
    """

    latency = 3

    def __init__(self, bits: int) -> None:
        if not _LEAST_BITS <= bits <= _MOST_BITS:
            raise ValueError(f"bits must be {_LEAST_BITS} to {_MOST_BITS}, not {bits}")
        self._bits = bits
        super().__init__({"number": In(signed(bits)), "result": Out(WORD_BITS)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bits = self._bits
        sign, shifted_sign, magnitude = Signal(), Signal(), Signal(bits)
        m.d.sync += [sign.eq(self.number[-1]), magnitude.eq(Mux(self.number[-1], -self.number, self.number))]
        zeros, shifted = leading_zeros(m, magnitude), Signal(bits)
        exponent = Signal(EXPONENT_BITS)
        m.d.sync += [
            shifted_sign.eq(sign),
            shifted.eq(shift_left(m, magnitude, zeros, bits)),
            exponent.eq(BIAS + bits - 1 - zeros),
        ]
        kept, half = shifted[-SIGNIFICAND_BITS:], shifted[-SIGNIFICAND_BITS - 1]
        increment = half & (kept[0] | shifted[: -SIGNIFICAND_BITS - 1].any())
        # The leading one counts up the exponent; so does a fraction that is rounded up to the next power of two.
        packed = Cat(kept[:FRACTION_BITS], exponent) + increment
        m.d.sync += self.result.eq(Mux(shifted[-1], Cat(packed[: WORD_BITS - 1], shifted_sign), 0))
        return m
