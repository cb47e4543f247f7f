"""Shifts of integers, as products with powers of two, by a slot's multipliers, which floats do not need meanwhile.

A shift to the left by n is the lower half of the product with 2^n; one to the right is the upper half of that with
2^(32-n), or for n = 0 the lower half of that with 1.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-lane.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import FRACTION_BITS, SIGNIFICAND_BITS
from ctm.rtl.fp.product import Product
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import IntegerOperation
from ctm.rtl.r700.lane.multiplier import Multiplier

_COUNT_BITS = (WORD_BITS - 1).bit_length()
_COARSE_BITS = 2
"""Upper bits of a power's exponent, which are decoded by themselves."""


def is_shift(operation: Value) -> Value:
    """Whether an IntegerOperation is one."""
    return Value.cast(operation)[-1]


assert [IntegerOperation(number).name for number in range(8, 11)] == ["ASHR", "LSHR", "LSHL"]


class SlotProduct(Product):
    """Multiplies two numbers, or shifts `words`.

    Counts above 31 shift out all bits: the result is 0, or the sign in an arithmetic shift. Latency, throughput and
    multipliers are those of `Product`.

    Members
    -------
    words : ``In(ArrayLayout(32, 2))``
        The operands' words, or integers.
    operation : ``In(IntegerOperation)``
        In the cycle of the operands; any but a shift for numbers.
    shifted : ``Out(32)``
        In the cycle of the significand; 0 if there is no shift.
    """

    words: In(data.ArrayLayout(WORD_BITS, 2))
    operation: In(IntegerOperation)
    shifted: Out(WORD_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        self._take(m)
        m.submodules.multiplier = multiplier = Multiplier(config.partial_products, config.product)
        keeps_sign = self.operation == IntegerOperation.ASHR
        first, second, first_is_signed = (
            delay(m, value, config.operands, name="factor") for value in (*self._factors(m, keeps_sign), keeps_sign)
        )
        # The power of a count of 0 is 1.
        takes_upper = (self.operation != IntegerOperation.LSHL) & (self.words[1] != 0)
        shifts = is_shift(self.operation)
        of_lower, of_upper = (
            delay(m, half, config.operands + multiplier.latency, name="half").replicate(WORD_BITS)
            for half in (shifts & ~takes_upper, shifts & takes_upper)
        )
        product = multiplier.product
        m.d.comb += [
            multiplier.a.eq(first),
            multiplier.b.eq(second),
            multiplier.a_is_signed.eq(first_is_signed),
            self.product.significand.eq(product),
            self.shifted.eq((product[:WORD_BITS] & of_lower) | (product[WORD_BITS:] & of_upper)),
        ]
        return m

    def _factors(self, m: Module, keeps_sign: Value) -> tuple[Value, Value]:
        """The first factor. A significand has its word's bits, and a 1 above them unless it is a zero."""
        a, b = self.words
        shifts, beyond = is_shift(self.operation), b[_COUNT_BITS:].any()
        kept, is_number = Signal(), Signal()
        m.d.comb += [
            kept.eq(Mux(shifts, ~beyond | keeps_sign, ~self.a.zero)),
            is_number.eq(~shifts & ~self.b.zero),
        ]
        significand = Mux(kept, Cat(a[:FRACTION_BITS], a[FRACTION_BITS] | ~shifts), 0)
        first = Cat(significand, Mux(kept & shifts, a[SIGNIFICAND_BITS:], 0))
        second = Cat(b[:FRACTION_BITS], 1) & is_number.replicate(SIGNIFICAND_BITS)
        return first, second | self._power(m, b[:_COUNT_BITS] | beyond.replicate(_COUNT_BITS), shifts)

    def _power(self, m: Module, count: Value, shifts: Value) -> Value:
        """The power of two that a shift multiplies by, or 0."""
        exponent = Signal(_COUNT_BITS)
        m.d.comb += exponent.eq(Mux(self.operation == IntegerOperation.LSHL, count, -count))
        coarse, fine = Signal(1 << _COARSE_BITS), Signal(1 << (_COUNT_BITS - _COARSE_BITS))
        m.d.comb += [
            fine.eq(Cat(exponent[:-_COARSE_BITS] == position for position in range(len(fine)))),
            coarse.eq(Cat(shifts & (exponent[-_COARSE_BITS:] == position) for position in range(len(coarse)))),
        ]
        return Cat(fine & bit.replicate(len(fine)) for bit in coarse)
