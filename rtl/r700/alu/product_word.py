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

_LARGEST_EXPONENT = (1 << EXPONENT_BITS) - 2


def rounded_product(m: Module, significand: Value) -> tuple[Value, Value]:
    """(a product's significand rounded to nearest even, with a bit above for a carry; whether it is 2 or more)."""
    # The leading one is the highest bit, or the next one.
    is_high = significand[-1]
    below = PRODUCT_BITS - SIGNIFICAND_BITS
    kept = Mux(is_high, significand[below:], significand[below - 1 : -1])
    half = Mux(is_high, significand[below - 1], significand[below - 2])
    rest = significand[: below - 2].any() | (is_high & significand[below - 2])
    total = Signal(SIGNIFICAND_BITS + 1, name="rounded_product")
    m.d.comb += total.eq(kept + (half & (rest | kept[0])))
    return total, is_high


class ProductWord(wiring.Component):
    """Rounds an exact product to nearest even and packs it. Combinational.

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
        total, is_high = rounded_product(m, product.significand)
        exponent, raised, biased = Signal(WIDE_EXPONENT), Signal(WIDE_EXPONENT), Signal(WIDE_EXPONENT)
        m.d.comb += [
            exponent.eq(product.exponent + BIAS + is_high),
            raised.eq(product.exponent + BIAS + 1 + is_high),
            biased.eq(Mux(total[-1], raised, exponent)),
        ]
        infinite = product.infinite | (~product.zero & (biased > _LARGEST_EXPONENT))
        zero = product.zero | (~product.infinite & (biased < 1))
        finite = Cat(total[:FRACTION_BITS], biased[:EXPONENT_BITS])
        magnitude = Mux(infinite, INFINITY, Mux(zero, 0, finite))[: WORD_BITS - 1]
        m.d.comb += self.word.eq(Mux(product.nan, NAN, Cat(magnitude, product.sign)))
        return m
