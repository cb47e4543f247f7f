"""The exact sum of a product and an addend: the path that multiply-add, fraction and dot products share.

Source: CTM Guide pp. 41-42; docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.addition import add, raw_beside_sum
from rtl.fp.alignment import LOW_BITS, aligned, distance
from rtl.fp.number import SIGNIFICAND_BITS, WIDE_EXPONENT, Operand, exponent, raw_layout
from rtl.fp.product import PRODUCT_BITS, Product
from rtl.lib.pipeline import delay

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
    """Computes a * b + c exactly, but for bits so low that one sticky bit can stand for them.

    With `dot` the product goes to a dot unit instead, aligned to `common_exponent`, and `raw` means nothing. An addend
    may be unnormalised where its exponent is not negative and `a` and `b` are 1 or zero: FRC needs that.
    One result per cycle.

    Members
    -------
    a, b, c : ``In(Operand)``
    zero_times_anything, truncate, dot : ``In(1)``
        With the operands.
    product_exponent : ``Out(WIDE_EXPONENT)``
        `operands` cycles behind the operands.
    common_exponent : ``In(WIDE_EXPONENT)``
        With `product_exponent`, which it must not be below.
    dot_term : ``Out(DotTerm)``
        `addition` cycles before `raw`.
    raw : ``Out(RAW)``
        `raw_latency` cycles behind the operands.
    """

    a: In(Operand)
    b: In(Operand)
    c: In(Operand)
    zero_times_anything: In(1)
    truncate: In(1)
    dot: In(1)
    product_exponent: Out(WIDE_EXPONENT)
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
        m.submodules.product = product = Product(config)
        term = product.product
        m.d.comb += [
            product.a.eq(self.a),
            product.b.eq(self.b),
            product.zero_times_anything.eq(self.zero_times_anything),
            self.product_exponent.eq(product.exponent),
        ]

        # Beside the multipliers nothing happens to the addend.
        addend, dot, truncate = (
            delay(m, value, config.operands + config.partial_products) for value in (self.c, self.dot, self.truncate)
        )

        # Beside the sum of the partial products: how far to shift, and all that depends on signs and special values.
        common_exponent = delay(m, self.common_exponent, config.partial_products, name="common_exponent")
        right_exponent = Mux(dot, common_exponent, exponent(addend))
        shift = distance(m, term.exponent, right_exponent, significand_bits=PRODUCT_BITS, forced=dot)
        raw = raw_beside_sum(m, term, addend, shift, layout=RAW, headroom=_HEADROOM)
        m.d.comb += raw.truncate.eq(truncate)
        subtract = term.sign != addend.sign
        flags = Signal(DotTerm)
        m.d.comb += [getattr(flags, name).eq(getattr(term, name)) for name in ("sign", "zero", "infinite", "nan")]

        shift, raw, subtract, flags, significand = (
            delay(m, value, config.product) for value in (shift, raw, subtract, flags, addend.significand)
        )
        wide_addend = Cat(Const(0, SIGNIFICAND_BITS - 1), significand, Const(0, 1))
        swap = shift.shifts_left_term
        larger = Mux(swap, wide_addend, term.significand)
        smaller = aligned(m, Mux(swap, term.significand, wide_addend), shift.amount)

        larger, smaller, raw, subtract, flags = (
            delay(m, value, config.alignment) for value in (larger, smaller, raw, subtract, flags)
        )
        m.d.comb += [
            self.dot_term.eq(flags),
            self.dot_term.magnitude.eq(smaller[-DOT_TERM_BITS:]),
            self.raw.eq(delay(m, add(m, raw, larger, smaller, subtract), config.addition, name="raw")),
        ]
        return m
