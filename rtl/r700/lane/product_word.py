"""Products as results: MULADD's addend is added to the product after its rounding, overflow and underflow.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import (
    BIAS,
    EXPONENT_BITS,
    FRACTION_BITS,
    INFINITY,
    NAN,
    SIGNIFICAND_BITS,
)
from ctm.rtl.fp.product import PRODUCT, PRODUCT_BITS
from ctm.rtl.isa.limits import WORD_BITS


def rounding_of(significand: Value) -> tuple[Value, Value, Value]:
    """(fraction of a product, whether rounding to nearest even adds 1 to it, whether the product is 2..4)."""
    # The leading one is the highest bit, or the next one.
    is_high = significand[-1]
    below = PRODUCT_BITS - SIGNIFICAND_BITS
    kept = Mux(is_high, significand[below:], significand[below - 1 : -1])
    half = Mux(is_high, significand[below - 1], significand[below - 2])
    sticky = significand[: below - 2].any() | (is_high & significand[below - 2])
    return kept[:FRACTION_BITS], half & (sticky | kept[0]), is_high


class ProductWord(wiring.Component):
    """Rounds an exact product to nearest even and packs it. Combinational.

    A product that is too small becomes a zero or a denormal of its sign.

    Members
    -------
    product : ``In(PRODUCT)``
        All fields in the same cycle.
    wanted : ``In(1)``
    word : ``Out(32)``
        0 if it is not wanted.
    """

    product: In(PRODUCT)
    wanted: In(1)
    word: Out(WORD_BITS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        product = self.product
        fraction, raises, is_high = rounding_of(product.significand)
        # One sum: rounding's carry out of the fraction goes into the exponent, to which the bias is added, or one more
        # than the bias.
        bias = Cat((~is_high).replicate(EXPONENT_BITS - 1), is_high)
        rounded = Signal(FRACTION_BITS + len(product.exponent))
        m.d.comb += rounded.eq(
            Cat(fraction, Value.cast(product.exponent)) + Cat(raises, Const(0, FRACTION_BITS - 1), bias)
        )
        exponent = rounded[FRACTION_BITS:]
        infinite = product.infinite | (~product.zero & _is_too_large(exponent))
        # An exponent of 0 makes it a denormal, which the adder takes as a zero.
        zero = product.zero | (~product.infinite & exponent[-1])
        is_finite, is_infinite, is_nan = Signal(), Signal(), Signal()
        m.d.comb += [
            is_finite.eq(self.wanted & ~product.nan & ~infinite & ~zero),
            is_infinite.eq(self.wanted & infinite),
            is_nan.eq(self.wanted & product.nan),
        ]
        magnitude = Mux(is_finite, rounded, Mux(is_infinite, INFINITY, 0))[: WORD_BITS - 1]
        sign = self.wanted & product.sign
        m.d.comb += self.word.eq(Mux(is_nan, NAN, Cat(magnitude, sign)))
        return m


def _is_too_large(exponent: Value) -> Value:
    """Whether a biased exponent is 255 or more. A comparison with a constant would be a carry chain."""
    return ~exponent[-1] & (exponent[EXPONENT_BITS:-1].any() | exponent[:EXPONENT_BITS].all())


assert BIAS == (1 << (EXPONENT_BITS - 1)) - 1
