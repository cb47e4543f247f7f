"""Exact products of two float32 operands.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, SIGNIFICAND_BITS, WIDE_EXPONENT, ZERO_EXPONENT, Operand, term_layout
from ctm.rtl.lib.pipeline import delay

PRODUCT_BITS = 2 * SIGNIFICAND_BITS
PRODUCT = term_layout(PRODUCT_BITS)
_LOW_BITS = 18
"""What one multiplier of an FPGA takes."""


class Product(wiring.Component):
    """Multiplies two operands exactly.

    Everything but the significand comes `operands` + `partial_products` cycles after the operands, the significand
    `product` cycles later, because exponents are compared while its partial products are added. One product per cycle;
    four 18x18 multipliers.

    Members
    -------
    a, b : ``In(Operand)``
    zero_times_anything : ``In(1)``
        Whether zero times infinity or NaN is a zero.
    exponent : ``Out(WIDE_EXPONENT)``
        The product's, `operands` cycles after them.
    product : ``Out(PRODUCT)``
    """

    a: In(Operand)
    b: In(Operand)
    zero_times_anything: In(1)
    exponent: Out(WIDE_EXPONENT)
    product: Out(PRODUCT)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        a, b = self._take(m)
        m.d.comb += self.product.significand.eq(self._significand(m, a.significand, b.significand))
        return m

    def _take(self, m: Module) -> tuple[Operand, Operand]:
        """Make everything but the significand; the operands when they are multiplied."""
        config = self._config
        exponent = Mux(self.a.zero | self.b.zero, ZERO_EXPONENT, self.a.exponent + self.b.exponent - 2 * BIAS)
        m.d.comb += self.exponent.eq(delay(m, exponent.as_signed(), config.operands, name="exponent"))
        a, b, zero_times_anything = (
            delay(m, value, config.operands) for value in (self.a, self.b, self.zero_times_anything)
        )

        any_zero = a.zero | b.zero
        any_infinite = a.infinite | b.infinite
        not_a_number = a.nan | b.nan | (any_zero & any_infinite)
        zero = any_zero & (zero_times_anything | ~not_a_number)
        term = Signal.like(self.product)
        m.d.comb += [
            term.exponent.eq(self.exponent),
            term.sign.eq(a.sign ^ b.sign),
            term.zero.eq(zero),
            term.infinite.eq(any_infinite & ~any_zero & ~not_a_number),
            term.nan.eq(not_a_number & ~zero),
        ]
        m.d.comb += self.product.eq(delay(m, term, config.partial_products, name="term"))
        return a, b

    def _significand(self, m: Module, a: Value, b: Value) -> Value:
        """The product of two significands; its upper and lower part do not overlap, so two sums are enough."""
        a_low, a_high, b_low, b_high = a[:_LOW_BITS], a[_LOW_BITS:], b[:_LOW_BITS], b[_LOW_BITS:]
        products = (a_low * b_low, a_high * b_high, a_low * b_high, a_high * b_low)
        cycles = self._config.partial_products
        low, high, cross, other_cross = (delay(m, each, cycles, name="partial_product") for each in products)
        total = Cat(low, high) + (cross + other_cross).shift_left(_LOW_BITS)
        return delay(m, total[:PRODUCT_BITS], self._config.product, name="significand")
