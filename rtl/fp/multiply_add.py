"""MAD as a unit of its own.

Source: CTM Guide pp. 28, 41.
"""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import unpack
from ctm.rtl.fp.product import Product
from ctm.rtl.fp.product_sum import RAW_BITS, ProductSum
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS


class MultiplyAdd(wiring.Component):
    """a * b + c, rounded once.

    Latency is that of the configuration; one result per cycle.

    Members
    -------
    a, b, c : ``In(32)``
    zero_times_anything : ``In(1)``
        Bit 1 of US_CONFIG: zero times infinity or NaN is a zero.
    result : ``Out(32)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
    c: In(WORD_BITS)
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
        m.submodules.product = product = Product(config)
        m.submodules.product_sum = product_sum = ProductSum(config)
        m.submodules.rounding = rounding = Rounding(RAW_BITS, config)
        m.submodules.result = result = Result(config)
        a, b, c = (unpack(m, getattr(self, name), name=name) for name in ("a", "b", "c"))
        m.d.comb += [
            product.a.eq(a),
            product.b.eq(b),
            product.zero_times_anything.eq(self.zero_times_anything),
            product_sum.product.eq(product.product),
            product_sum.addend.eq(c),
            rounding.raw.eq(product_sum.raw),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
