"""Products of two numbers, where nothing is added to them.

Source: CTM Guide p. 41; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import raw_layout, unpack
from ctm.rtl.fp.product import PRODUCT_BITS, Product
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import LEAST_BITS, Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay

_LOST = PRODUCT_BITS - LEAST_BITS + 1
"""Low bits of a product for which one sticky bit stands."""


class Multiplication(wiring.Component):
    """a * b, rounded once: what multiply-add gives with -0 added, without its shifters.

    Latency is that of the configuration; one result per cycle.

    Members
    -------
    a, b : ``In(32)``
    result : ``Out(32)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
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
        m.submodules.rounding = rounding = Rounding(LEAST_BITS, config)
        m.submodules.result = result = Result(config)
        exact = product.product
        # All of it but the significand comes a step earlier.
        early = Signal(raw_layout(0), name="beside_significand")
        m.d.comb += [
            product.a.eq(unpack(m, self.a, name="a")),
            product.b.eq(unpack(m, self.b, name="b")),
            early.exponent.eq(exact.exponent + 1),
            early.sign.eq(exact.sign),
            early.zero_sign.eq(exact.sign),
            early.infinite.eq(exact.infinite),
            early.nan.eq(exact.nan),
        ]
        beside = delay(m, early, config.product + config.alignment)
        significand = Cat(exact.significand[:_LOST].any(), exact.significand[_LOST:])
        m.d.comb += [
            *(rounding.raw[name].eq(beside[name]) for name, _ in early.shape() if name != "significand"),
            rounding.raw.significand.eq(delay(m, significand, config.alignment)),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
