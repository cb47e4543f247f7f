"""Products of integers of 32 bits, out of four products of 17 bits.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay

_HALF = WORD_BITS // 2
PRODUCT_BITS = 2 * WORD_BITS


class Multiplier(wiring.Component):
    """Multiplies two words exactly, as signed or unsigned integers.

    Latency is the registers after the partial products and those after their sum. One product per cycle; four 18x18
    multipliers.

    Members
    -------
    a, b : ``In(32)``
    a_is_signed, b_is_signed : ``In(1)``
    product : ``Out(64)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
    a_is_signed: In(1)
    b_is_signed: In(1)
    product: Out(PRODUCT_BITS)

    def __init__(self, partial_products: int, total: int) -> None:
        self._partial_products, self._total = partial_products, total
        self.latency = partial_products + total
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        a_low, a_high = _halves(self.a, self.a_is_signed)
        b_low, b_high = _halves(self.b, self.b_is_signed)
        products = (a_low * b_low, a_high * b_high, a_low * b_high, a_high * b_low)
        low, high, cross, other_cross = (
            delay(m, product, self._partial_products, name="partial_product") for product in products
        )
        # The upper and lower part do not overlap.
        total = Signal(PRODUCT_BITS)
        m.d.comb += total.eq(Cat(low, high[:WORD_BITS]) + (cross + other_cross).shift_left(_HALF))
        m.d.comb += self.product.eq(delay(m, total, self._total, name="product"))
        return m


def _halves(word: Value, is_signed: Value) -> tuple[Value, Value]:
    return word[:_HALF], Cat(word[_HALF:], word[-1] & is_signed).as_signed()
