"""The exact sum of a product and an addend: the path that multiply-add, fraction and dot products share.

Source: CTM Guide pp. 41-42; docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.addition import add, raw_beside_sum
from ctm.rtl.fp.alignment import LOW_BITS, aligned, distance
from ctm.rtl.fp.number import SIGNIFICAND_BITS, WIDE_EXPONENT, ZERO_EXPONENT, Operand, exponent, raw_layout
from ctm.rtl.fp.product import PRODUCT, PRODUCT_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record

RAW_BITS = PRODUCT_BITS + LOW_BITS + 1
RAW = raw_layout(RAW_BITS)
_HEADROOM = 2
"""Bits above a term's leading one: a product can have one, the sum one more."""

DOT_TERM_BITS = 26
"""A product's bits from twice the largest exponent's weight down to 2^-24 of it."""


class DotTerm(data.Struct):
    """A product at the largest product's exponent, truncated."""

    magnitude: DOT_TERM_BITS
    sign: 1
    zero: 1
    infinite: 1
    nan: 1


class ProductSum(wiring.Component):
    """Adds a product and an addend exactly, but for bits so low that one sticky bit can stand for them.

    With `fraction` the addend, of any sign, is a number's fraction, and the product is not used:
    the sum is the addend, or 1 plus a negative one, to be rounded towards zero. With `dot` the product goes to a dot
    sum instead, aligned to `common_exponent`, and `raw` means nothing. One sum per cycle.

    Members
    -------
    product : ``In(PRODUCT)``
        As Product gives it.
    addend : ``In(Operand)``
        With the product's operands, as `fraction` and `dot`. With `fraction` not normalised, and `zero` means nothing.
    fraction, dot : ``In(1)``
    common_exponent : ``In(WIDE_EXPONENT)``
        `operands` cycles after the operands; not below the product's.
    dot_term : ``Out(DotTerm)``
    raw : ``Out(RAW)``
        Both `raw_latency` cycles after the operands.
    """

    product: In(PRODUCT)
    addend: In(Operand)
    fraction: In(1)
    dot: In(1)
    common_exponent: In(WIDE_EXPONENT)
    dot_term: Out(DotTerm)
    raw: Out(RAW)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        # Beside the multipliers nothing happens to the addend, but that a fraction may be 0.
        addend, fraction, dot = (delay(m, value, config.operands) for value in (self.addend, self.fraction, self.dot))
        beside_product = Signal.like(addend)
        m.d.comb += beside_product.eq(addend)
        with m.If(fraction):
            m.d.comb += beside_product.zero.eq(~addend.significand.any())
        addend, fraction, dot = (delay(m, value, config.partial_products) for value in (beside_product, fraction, dot))
        common_exponent = delay(m, self.common_exponent, config.partial_products, name="common_exponent")

        # Beside the sum of the partial products: how far to shift, and all that depends on signs and special values.
        term, one = self._term(m, fraction, addend)
        right_exponent = Mux(dot, common_exponent, exponent(addend))
        shift = distance(m, term.exponent, right_exponent, significand_bits=PRODUCT_BITS, forced=dot)
        raw = raw_beside_sum(m, term, addend, shift, headroom=_HEADROOM)
        m.d.comb += raw.truncate.eq(fraction)
        subtract = term.sign != addend.sign
        flags = record(DotTerm)
        m.d.comb += [getattr(flags, name).eq(getattr(term, name)) for name in ("sign", "zero", "infinite", "nan")]

        shift, raw = (delay(m, value, config.product) for value in (shift, raw))
        subtract, flags = delay(m, subtract, config.product), delay(m, flags, config.product)
        fraction, one, significand = (delay(m, value, config.product) for value in (fraction, one, addend.significand))
        left = Mux(fraction, one.shift_left(PRODUCT_BITS - 2), self.product.significand)
        right = Cat(Const(0, SIGNIFICAND_BITS - 1), significand, Const(0, 1))
        larger = Mux(shift.shifts_left_term, right, left)
        smaller = aligned(m, Mux(shift.shifts_left_term, left, right), shift.amount)

        larger, smaller = (delay(m, value, config.alignment) for value in (larger, smaller))
        raw, subtract = delay(m, raw, config.alignment), delay(m, subtract, config.alignment)
        flags = delay(m, flags, config.alignment)
        m.d.comb += [
            self.dot_term.eq(flags),
            self.dot_term.magnitude.eq(smaller[-DOT_TERM_BITS:]),
            self.raw.eq(add(m, raw, larger, smaller, subtract)),
        ]
        return m

    def _term(self, m: Module, fraction: Value, addend: Operand) -> tuple[data.View, Value]:
        """(what is added to the addend, whether that is a 1 for FRC). The significand comes later."""
        term = record(PRODUCT)
        m.d.comb += term.eq(self.product)
        with m.If(fraction):
            # Exponents must not wait for `addend.zero`: where both numbers are zeros they do not matter.
            m.d.comb += [
                term.exponent.eq(Mux(addend.sign, 0, ZERO_EXPONENT)),
                term.sign.eq(0),
                term.zero.eq(1),
                term.infinite.eq(0),
                term.nan.eq(0),
            ]
        return term, addend.sign & ~addend.zero
