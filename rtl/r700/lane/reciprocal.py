"""RECIP_INT and RECIP_UINT: 2^32 / x, truncated, from an estimate, one product and a correction.

The estimate comes from the float reciprocal's table and quadratic before they are rounded, whose error is less than
2^-24. From x = 256 on the quotient is below 2^24, so the estimate's integer part is the quotient or next to it, and
the product with x decides which. Quotients of smaller x are in a table.

Source: docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.lane.multiplier import PRODUCT_BITS

SMALL_BITS = 8
_MOST = (1 << WORD_BITS) - 1
_QUOTIENTS = [min((1 << WORD_BITS) // max(x, 1), _MOST) for x in range(1 << SMALL_BITS)]


class SmallQuotients(wiring.Component):
    """2^32 / x for x < 256, 2^32 - 1 for 0 and 1.

    Latency is `partial_products` + `product` of the configuration, of which one is the table's.

    Members
    -------
    x : ``In(8)``
    quotient : ``Out(32)``
    """

    x: In(SMALL_BITS)
    quotient: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.partial_products + config.product
        if not self.latency:
            raise ValueError("pipeline.partial_products or pipeline.product must be 1: a table takes a cycle")
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        table: Memory = Memory(shape=WORD_BITS, depth=len(_QUOTIENTS), init=_QUOTIENTS)
        m.submodules.table = table
        port = table.read_port()
        m.d.comb += [
            port.addr.eq(self.x),
            self.quotient.eq(delay(m, port.data, self.latency - 1, name="quotient")),
        ]
        return m


class QuotientCorrection(wiring.Component):
    """Corrects the estimate of 2^32 / x by one, gives it its sign and saturates it. Combinational.

    Members
    -------
    estimate : ``In(32)``
        One more or less than the quotient, or the quotient.
    x : ``In(32)``
    product : ``In(64)``
        Of `estimate` and `x`.
    negative : ``In(1)``
    is_signed : ``In(1)``
    result : ``Out(32)``
    """

    estimate: In(WORD_BITS)
    x: In(WORD_BITS)
    product: In(PRODUCT_BITS)
    negative: In(1)
    is_signed: In(1)
    result: Out(WORD_BITS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # The product is 2^32 within twice x.
        bits = WORD_BITS + 3
        product, next_product = self.product[:bits], Signal(bits)
        m.d.comb += next_product.eq(product + self.x)
        # The quotients of 0 and 1, which are saturated already, need no correction.
        is_saturated = ~self.x[1:].any()
        too_large = _exceeds(product) & ~is_saturated
        too_small = ~_exceeds(next_product) & ~is_saturated
        # One sum, with a carry in: -q is ~q + 1, -(q - 1) is ~q + 2, and -(q + 1) is ~q.
        negative, inverted = self.negative, self.estimate ^ self.negative.replicate(WORD_BITS)
        correction = Cat(too_large, (too_large & ~negative).replicate(WORD_BITS - 1))
        quotient = (Cat(1, inverted) + Cat(too_small ^ negative, correction))[1 : 1 + WORD_BITS]
        # Only quotients of 0, 1 and 2 have this bit.
        beyond = self.is_signed & self.estimate[-1]
        most = Cat((~self.negative).replicate(WORD_BITS - 1), self.negative)
        m.d.comb += self.result.eq(Mux(beyond, most, quotient))
        return m


def _exceeds(product: Value) -> Value:
    """Whether a number is larger than 2^32."""
    return product[WORD_BITS + 1 :].any() | (product[WORD_BITS] & product[:WORD_BITS].any())
