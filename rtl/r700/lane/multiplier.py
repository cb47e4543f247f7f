"""Products of integers of 32 bits, out of four products of 17 bits.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay

_HALF = WORD_BITS // 2
PRODUCT_BITS = 2 * WORD_BITS


class Multiplier(wiring.Component):
    """Multiplies two words exactly, as signed or unsigned integers.

    Latency is `partial_products` + `normalisation` of the configuration, of which the second is for their sum. One
    product per cycle; four 18x18 multipliers.

    Members
    -------
    a, b : ``In(32)``
    is_signed : ``In(1)``
    product : ``Out(64)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
    is_signed: In(1)
    product: Out(PRODUCT_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.partial_products + config.normalisation
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        (a_low, a_high), (b_low, b_high) = self._halves(self.a), self._halves(self.b)
        parts = (a_low * b_low, a_high * b_high, a_low * b_high, a_high * b_low)
        low, high, cross, other_cross = (
            delay(m, part, self._config.partial_products, name="partial_product") for part in parts
        )
        # The upper and lower part do not overlap.
        total = Signal(PRODUCT_BITS)
        m.d.comb += total.eq(Cat(low, high[:WORD_BITS]) + (cross + other_cross).shift_left(_HALF))
        m.d.comb += self.product.eq(delay(m, total, self._config.normalisation, name="product"))
        return m

    def _halves(self, word: Value) -> tuple[Value, Value]:
        return word[:_HALF], Cat(word[_HALF:], word[-1] & self.is_signed).as_signed()
