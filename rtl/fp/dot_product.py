"""Dot products: products aligned to the largest, truncated, summed.

The sum keeps 24 bits below the largest product's leading one, so terms that cancel leave what hardware of the time left
(p. 42). Source: CTM Guide pp. 28, 42; docs/arithmetic.md.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.alignment import distance
from ctm.rtl.fp.number import WIDE_EXPONENT, unpack
from ctm.rtl.fp.product import PRODUCT, Product
from ctm.rtl.fp.product_sum import DOT_TERM_BITS, RAW, RAW_BITS, DotTerm
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_right_sticky

TERMS = 4
_SUM_BITS = DOT_TERM_BITS + 2
_HEADROOM = _SUM_BITS - DOT_TERM_BITS + 1
"""Bits of the sum above the largest product's exponent."""


def largest(exponents: list[Value]) -> Value:
    """The largest of signed exponents."""
    while len(exponents) > 1:
        pairs = zip(exponents[::2], exponents[1::2], strict=True)
        exponents = [Mux(left > right, left, right).as_signed() for left, right in pairs]
    return exponents[0]


def _sum_of(magnitudes: Sequence[Value], signs: Sequence[Value]) -> Value:
    """The sum of numbers of these signs; the ones of their negatives are added together."""
    inverted = [
        (Cat(bits, Const(0, 1)) ^ sign.replicate(DOT_TERM_BITS + 1)).as_signed()
        for bits, sign in zip(magnitudes, signs, strict=True)
    ]
    return Value.cast(sum(inverted) + sum(signs))


class DotSum(wiring.Component):
    """Adds the aligned products of four product sums.

    A sum of zeros is -0 if all are -0.

    Members
    -------
    terms : ``In(ArrayLayout(DotTerm, 4))``
    exponent : ``In(WIDE_EXPONENT)``
        The largest of the product exponents, `operands` cycles after the operands.
    raw : ``Out(RAW)``
        With the terms, `raw_latency` cycles after the operands.
    """

    terms: In(data.ArrayLayout(DotTerm, TERMS))
    exponent: In(WIDE_EXPONENT)
    raw: Out(RAW)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        exponent = delay(m, self.exponent, config.partial_products + config.product + config.alignment)
        terms = [self.terms[index] for index in range(TERMS)]
        # A product in [2, 4) with the largest exponent moves the point at which all are truncated up by one bit.
        carry = Cat(term.magnitude[-1] for term in terms).any()
        kept = [Cat(term.magnitude[0] & ~carry, term.magnitude[1:]) for term in terms]
        # The sum and its negative, so that the magnitude waits for one carry chain only. -x is ~x + 1.
        total, opposite = Signal(_SUM_BITS + 1), Signal(_SUM_BITS + 1)
        signs = [term.sign for term in terms]
        m.d.comb += [
            total.eq(_sum_of(kept, signs)),
            opposite.eq(_sum_of(kept, [~sign for sign in signs])),
        ]
        negative = total[-1]
        magnitude = Mux(negative, opposite, total)[:_SUM_BITS]

        positive_infinity = Cat(term.infinite & ~term.sign for term in terms).any()
        negative_infinity = Cat(term.infinite & term.sign for term in terms).any()
        raw = Signal(RAW)
        m.d.comb += [
            raw.significand.eq(magnitude.shift_left(RAW_BITS - _SUM_BITS)),
            raw.exponent.eq(exponent + _HEADROOM),
            raw.infinite.eq(positive_infinity | negative_infinity),
            raw.nan.eq(Cat(term.nan for term in terms).any() | (positive_infinity & negative_infinity)),
            raw.sign.eq(Mux(raw.infinite, negative_infinity, negative)),
            raw.zero_sign.eq(Cat(term.zero & term.sign for term in terms).all()),
            self.raw.eq(raw),
        ]
        return m


class DotAlignment(wiring.Component):
    """Aligns a product for a dot sum, where the product's own sum is needed at the same time.

    Timing is that of ProductSum.

    Members
    -------
    product : ``In(PRODUCT)``
    takes_part : ``In(1)``
        With the product's operands. A product that does not is given as -0.
    common_exponent : ``In(WIDE_EXPONENT)``
        Not below the product's if that is a term.
    dot_term : ``Out(DotTerm)``
    """

    product: In(PRODUCT)
    takes_part: In(1)
    common_exponent: In(WIDE_EXPONENT)
    dot_term: Out(DotTerm)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, product = self._config, self.product
        common_exponent = delay(m, self.common_exponent, config.partial_products)
        takes_part = delay(m, self.takes_part, config.operands + config.partial_products)
        shift = distance(m, product.exponent, common_exponent, significand_bits=DOT_TERM_BITS, forced=Const(1))
        term = Signal(DotTerm)
        m.d.comb += [
            term.sign.eq(product.sign | ~takes_part),
            term.zero.eq(product.zero | ~takes_part),
            term.infinite.eq(product.infinite & takes_part),
            term.nan.eq(product.nan & takes_part),
        ]
        amount, takes_part = (delay(m, value, config.product) for value in (shift.amount, takes_part))
        delayed = delay(m, term, config.product)
        shifted, _ = shift_right_sticky(m, product.significand[-DOT_TERM_BITS:], amount)
        aligned = Signal(DotTerm)
        m.d.comb += [aligned.eq(delayed), aligned.magnitude.eq(Mux(takes_part, shifted, 0))]
        m.d.comb += self.dot_term.eq(delay(m, aligned, config.alignment))
        return m


class DotPath(wiring.Component):
    """A dot product before its rounding, of a vector's products and one more.

    Members
    -------
    terms : ``In(ArrayLayout(DotTerm, 3))``
        As those of `DotSum`.
    product, takes_part : as those of `DotAlignment`
    exponent : ``In(WIDE_EXPONENT)``
        The largest of the product exponents, `operands` cycles after the operands.
    raw : ``Out(RAW)``
        With the terms.
    """

    terms: In(data.ArrayLayout(DotTerm, TERMS - 1))
    product: In(PRODUCT)
    takes_part: In(1)
    exponent: In(WIDE_EXPONENT)
    raw: Out(RAW)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.raw_latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.sum = dot_sum = DotSum(self._config)
        m.submodules.alignment = alignment = DotAlignment(self._config)
        m.d.comb += [
            alignment.product.eq(self.product),
            alignment.takes_part.eq(self.takes_part),
            alignment.common_exponent.eq(self.exponent),
            dot_sum.exponent.eq(self.exponent),
            *(dot_sum.terms[index].eq(self.terms[index]) for index in range(TERMS - 1)),
            dot_sum.terms[TERMS - 1].eq(alignment.dot_term),
            self.raw.eq(dot_sum.raw),
        ]
        return m


class DotProduct(wiring.Component):
    """a[0] * b[0] + ... + a[3] * b[3] as a unit of its own.

    Latency is that of the configuration; one result per cycle. DP3 has -0 and +0 as its fourth operands, D2A also the
    addend and 1 as its third.

    Members
    -------
    a, b : ``In(ArrayLayout(32, 4))``
    zero_times_anything : ``In(1)``
        Bit 1 of US_CONFIG: zero times infinity or NaN is a zero.
    result : ``Out(32)``
    """

    a: In(data.ArrayLayout(WORD_BITS, TERMS))
    b: In(data.ArrayLayout(WORD_BITS, TERMS))
    zero_times_anything: In(1)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        m.submodules.dot_sum = dot_sum = DotSum(config)
        m.submodules.rounding = rounding = Rounding(RAW_BITS, config)
        m.submodules.result = result = Result(config)
        products = [Product(config) for _ in range(TERMS)]
        exponent = Signal(WIDE_EXPONENT)
        m.d.comb += [
            exponent.eq(largest([product.exponent for product in products])),
            dot_sum.exponent.eq(exponent),
        ]
        for index, product in enumerate(products):
            alignment = DotAlignment(config)
            m.submodules[f"product_{index}"] = product
            m.submodules[f"alignment_{index}"] = alignment
            m.d.comb += [
                product.a.eq(unpack(m, self.a[index], name=f"a_{index}")),
                product.b.eq(unpack(m, self.b[index], name=f"b_{index}")),
                product.zero_times_anything.eq(self.zero_times_anything),
                alignment.product.eq(product.product),
                alignment.takes_part.eq(1),
                alignment.common_exponent.eq(exponent),
                dot_sum.terms[index].eq(alignment.dot_term),
            ]
        m.d.comb += [
            rounding.raw.eq(dot_sum.raw),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
