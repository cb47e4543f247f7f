"""Dot products: products aligned to the largest, truncated, summed.

The sum keeps 24 bits below the largest product's leading one, so terms that cancel leave what hardware of the time left
(p. 42). Source: CTM Guide pp. 28, 42; docs/arithmetic.md.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.number import WIDE_EXPONENT, WORD_BITS, unpack
from rtl.fp.product_sum import DOT_TERM_BITS, RAW, RAW_BITS, DotTerm, ProductSum
from rtl.fp.result import Result
from rtl.fp.rounding import Rounding
from rtl.lib.pipeline import delay

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


class DotSum(wiring.Component):
    """Adds the aligned products of four product sums.

    Latency is `addition` of the configuration. A sum of zeros is -0 if all are -0. A product that shall not take part
    is -0 times +0.

    Members
    -------
    terms : ``In(ArrayLayout(DotTerm, 4))``
    exponent : ``In(WIDE_EXPONENT)``
        The largest of the product exponents.
    raw : ``Out(RAW)``
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
        terms = [self.terms[index] for index in range(TERMS)]
        # A product in [2, 4) with the largest exponent moves the point at which all are truncated up by one bit.
        carry = Cat(term.magnitude[-1] for term in terms).any()
        kept = [Cat(term.magnitude[0] & ~carry, term.magnitude[1:]) for term in terms]
        # -x is ~x + 1; the ones are added together.
        inverted = [
            (Cat(bits, Const(0, 1)) ^ term.sign.replicate(DOT_TERM_BITS + 1)).as_signed()
            for bits, term in zip(kept, terms, strict=True)
        ]
        total = Signal(_SUM_BITS + 1)
        m.d.comb += total.eq(sum(inverted) + sum(term.sign for term in terms))
        negative = total[-1]
        magnitude = ((total ^ negative.replicate(len(total))) + negative)[:_SUM_BITS]

        positive_infinity = Cat(term.infinite & ~term.sign for term in terms).any()
        negative_infinity = Cat(term.infinite & term.sign for term in terms).any()
        raw = Signal(RAW)
        m.d.comb += [
            raw.significand.eq(magnitude << (RAW_BITS - _SUM_BITS)),
            raw.exponent.eq(self.exponent + _HEADROOM),
            raw.infinite.eq(positive_infinity | negative_infinity),
            raw.nan.eq(Cat(term.nan for term in terms).any() | (positive_infinity & negative_infinity)),
            raw.sign.eq(Mux(raw.infinite, negative_infinity, negative)),
            raw.zero_sign.eq(Cat(term.zero & term.sign for term in terms).all()),
            self.raw.eq(delay(m, raw, self._config.addition)),
        ]
        return m


def connect_dot(m: Module, paths: Sequence[ProductSum], dot_sum: DotSum, config: PipelineConfig) -> None:
    """Give the paths' products their common exponent, and the aligned products to the sum."""
    exponent = largest([path.product_exponent for path in paths])
    m.d.comb += dot_sum.exponent.eq(delay(m, exponent, config.partial_products + config.product + config.alignment))
    for index, path in enumerate(paths):
        m.d.comb += [path.common_exponent.eq(exponent), dot_sum.terms[index].eq(path.dot_term)]


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
        paths = [ProductSum(config) for _ in range(TERMS)]
        for index, path in enumerate(paths):
            m.submodules[f"product_sum_{index}"] = path
            m.d.comb += [
                path.a.eq(unpack(m, self.a[index], name=f"a_{index}")),
                path.b.eq(unpack(m, self.b[index], name=f"b_{index}")),
                path.zero_times_anything.eq(self.zero_times_anything),
                path.dot.eq(1),
            ]
        connect_dot(m, paths, dot_sum, config)
        m.d.comb += [
            rounding.raw.eq(dot_sum.raw),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
