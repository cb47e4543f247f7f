"""Products as results by themselves: what MULADD adds to, after one rounding, overflow and underflow.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import (
    BIAS,
    EXPONENT_BITS,
    FRACTION_BITS,
    INFINITY,
    NAN,
    SIGNIFICAND_BITS,
    WIDE_EXPONENT,
)
from ctm.rtl.fp.product import PRODUCT, PRODUCT_BITS
from ctm.rtl.isa.limits import WORD_BITS


def rounded_product(m: Module, significand: Value) -> tuple[Value, Value, Value]:
    """(fraction of a product rounded to nearest even, whether that is a power of two by rounding, whether it is 2..4).

    Both possible results are there before it is known which one is the nearest.
    """
    # The leading one is the highest bit, or the next one.
    is_high = significand[-1]
    below = PRODUCT_BITS - SIGNIFICAND_BITS
    kept = Mux(is_high, significand[below:], significand[below - 1 : -1])
    half = Mux(is_high, significand[below - 1], significand[below - 2])
    rest = significand[: below - 2].any() | (is_high & significand[below - 2])
    raises = half & (rest | kept[0])
    fraction, next_fraction = kept[:FRACTION_BITS], Signal(FRACTION_BITS, name="next_fraction")
    m.d.comb += next_fraction.eq(fraction + 1)
    return Mux(raises, next_fraction, fraction), raises & fraction.all(), is_high


class ProductWord(wiring.Component):
    """Rounds an exact product to nearest even and packs it. Combinational.

    What is too small becomes a zero or a denormal of its sign.

    Members
    -------
    product : ``In(PRODUCT)``
        All of it in the same cycle.
    word : ``Out(32)``
    """

    product: In(PRODUCT)
    word: Out(WORD_BITS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        product = self.product
        fraction, carry, is_high = rounded_product(m, product.significand)
        exponent, raised = Signal(WIDE_EXPONENT), Signal(WIDE_EXPONENT)
        m.d.comb += [
            exponent.eq(product.exponent + BIAS + is_high),
            raised.eq(product.exponent + (BIAS + 1) + is_high),
        ]
        infinite = product.infinite | (~product.zero & Mux(carry, _is_too_large(raised), _is_too_large(exponent)))
        # An exponent of 0 makes it a denormal, which counts as a zero for whoever adds to it.
        zero = product.zero | (~product.infinite & Mux(carry, raised, exponent)[-1])
        finite = Cat(fraction, Mux(carry, raised, exponent)[:EXPONENT_BITS])
        magnitude = Mux(infinite, INFINITY, Mux(zero, 0, finite))[: WORD_BITS - 1]
        m.d.comb += self.word.eq(Mux(product.nan, NAN, Cat(magnitude, product.sign)))
        return m


def _is_too_large(exponent: Value) -> Value:
    """Whether a biased exponent is 255 or more. Comparing with a constant would make a carry chain of it."""
    return ~exponent[-1] & (exponent[EXPONENT_BITS:-1].any() | exponent[:EXPONENT_BITS].all())
