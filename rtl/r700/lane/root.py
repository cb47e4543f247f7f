"""SQRT_IEEE: x * RSQ(x), both rounded.

RSQ's significand is between 1 and 2 before it is rounded, so it needs no normalisation. Zeros and infinities
need no product.

Source: docs/arithmetic.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, FRACTION_BITS, SIGNIFICAND_BITS, Operand, Rounded
from ctm.rtl.fp.product import PRODUCT_BITS
from ctm.rtl.isa.transcendental import C0_FRACTION
from ctm.rtl.r700.lane.product_word import rounding_of


def rounded_significand(m: Module, value: Value) -> Value:
    """A value from 1 to 2, of C0_FRACTION fraction bits, rounded to nearest even, as an integer of 25 bits."""
    below = C0_FRACTION - FRACTION_BITS
    kept, half, sticky = value[below : C0_FRACTION + 1], value[below - 1], value[: below - 1].any()
    rounded = Signal(SIGNIFICAND_BITS + 1)
    # The table's approximation of 2 may be slightly larger than 2.
    m.d.comb += rounded.eq(Mux(value[C0_FRACTION + 1], 1 << SIGNIFICAND_BITS, kept + (half & (sticky | kept[0]))))
    return rounded


class RootProduct(wiring.Component):
    """The rounded square root of x from the product of two significands. Combinational; exceptions are those of x.

    Members
    -------
    x : ``In(Operand)``
        Its significand is not used.
    product : ``In(48)``
        x's significand times RSQ's.
    root : ``Out(Rounded)``
    """

    x: In(Operand)
    product: In(PRODUCT_BITS)
    root: Out(Rounded)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        x, root = self.x, self.root
        fraction, raises, is_high = rounding_of(self.product)
        exponent, rounded = Signal(EXPONENT_BITS), Signal(FRACTION_BITS + 1)
        m.d.comb += [
            rounded.eq(fraction + raises),
            # Half of x's, rounded up, and one less for a product below 2.
            exponent.eq((x.exponent + BIAS - 1) >> 1),
            root.fraction.eq(rounded[:FRACTION_BITS]),
            root.exponent.eq(Mux(is_high | rounded[-1], exponent + 1, exponent)),
            root.sign.eq(x.sign),
            root.zero.eq(x.zero),
            root.infinite.eq(x.infinite),
            root.nan.eq(x.nan | (x.sign & ~x.zero)),
        ]
        return m
