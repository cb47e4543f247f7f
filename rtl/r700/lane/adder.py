"""Sums of two words, and other uses of their shifter and adder: FRACT, integral values, terms of dot products.

**Integral values.** A number that is aligned to one whose lowest bit is a unit is an integer with its fraction in the
guard and sticky bits. So the right-hand word is 2^23, of which only the exponent is used, and rounding up is a carry
into the lowest bit. A larger number is integral already.

**FRACT** of a number of at least 1 is its fraction bits, of a negative one their two's complement. A mask of these bits
is 1 - 2^-24, whose significand is all ones, aligned to the number. For a smaller number FRACT is a sum with 0 or 1,
rounded towards zero.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.addition import raw_beside_sum
from ctm.rtl.fp.alignment import LOW_BITS, distance_layout
from ctm.rtl.fp.number import (
    BIAS,
    EXPONENT_BITS,
    FRACTION_BITS,
    SIGNIFICAND_BITS,
    raw_layout,
    unpack,
)
from ctm.rtl.fp.product_sum import DOT_TERM_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_right_sticky
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.lane import Sum

RAW_BITS = SIGNIFICAND_BITS + LOW_BITS + 1
RAW = raw_layout(RAW_BITS)
AMOUNT_BITS = len(Value.cast(record(distance_layout(SIGNIFICAND_BITS)).amount))
"""Width of a shift: 31 shifts out all bits."""
INTEGRAL = (BIAS + FRACTION_BITS) << FRACTION_BITS
"""The right-hand word for integral values: 2^23."""
FRACTION_MASK = (BIAS << FRACTION_BITS) - 1
"""The right-hand word for FRACT of numbers from 1 on: 1 - 2^-24."""
_HEADROOM = 1


def is_below_one(word: Value) -> Value:
    """Whether a number's magnitude is."""
    return ~(word[WORD_BITS - 2] | word[FRACTION_BITS : WORD_BITS - 2].all())


class SlotAdder(wiring.Component):
    """Adds two words, not yet rounded, or aligns the product of a dot product.

    Latency is `partial_products` (distance), `alignment`; the sum itself is combinational after them: the register
    `addition` is that of the rounding unit.

    Members
    -------
    lhs, rhs : ``In(32)``
    smaller : ``In(1)``
        Whether the magnitude of `lhs` is smaller than that of `rhs`.
    sum : ``In(Sum)``
        Any sum but ADDITION needs its own word as `rhs`.
    doubles : ``In(1)``
        Give twice the sum.
    dot : ``In(1)``
        Align `dot_product` by `dot_amount` instead, to `aligned_product`.
    dot_product : ``In(26)``
        `partial_products` after the words, as `dot_amount`; 0 without `dot`.
    dot_amount : ``In(5)``
    raw : ``Out(RAW)``
    aligned_product : ``Out(26)``
    """

    lhs: In(WORD_BITS)
    rhs: In(WORD_BITS)
    smaller: In(1)
    sum: In(Sum)
    doubles: In(1)
    dot: In(1)
    dot_product: In(DOT_TERM_BITS)
    dot_amount: In(AMOUNT_BITS)
    raw: Out(RAW)
    aligned_product: Out(DOT_TERM_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.partial_products + config.alignment
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        is_fraction = self.sum == Sum.FRACTION
        is_integral = ~is_fraction & (self.sum != Sum.ADDITION)
        lhs, rhs = unpack(m, self.lhs, name="lhs"), unpack(m, self.rhs, name="rhs")
        shift, raw = self._beside_sum(m, lhs, rhs, is_integral, is_fraction)
        masks = is_fraction & ~is_below_one(self.lhs)
        flags = Cat(
            self.smaller,
            self.dot,
            (lhs.sign != rhs.sign) & ~is_integral,
            masks,
            is_integral,
            lhs.sign,
        )
        # A dot product's term, which is 0 otherwise, is ORed to either.
        significands = (
            Mux(self.dot, 0, lhs.significand),
            Mux(self.dot | is_integral, 0, rhs.significand),
        )
        sum_kind = Value.cast(self.sum)

        compared: list[Any] = [
            delay(m, value, config.partial_products, name="compared")
            for value in (flags, shift, raw, *significands, sum_kind)
        ]
        flags, shift, raw, first, second, sum_kind = compared
        swap, dot = flags[0], flags[1]
        larger = Mux(swap, second, first)
        smaller = self.dot_product | Cat(Const(0, LOW_BITS - 1), Mux(swap, first, second))
        shifted, sticky = shift_right_sticky(m, smaller, Mux(dot, self.dot_amount, shift))
        aligned: list[Any] = [
            delay(m, value, config.alignment, name="aligned")
            for value in (flags, raw, larger, shifted, sticky, sum_kind)
        ]
        flags, raw, larger, shifted, sticky, sum_kind = aligned
        m.d.comb += self.aligned_product.eq(shifted)
        self._add(m, raw, larger, Cat(sticky, shifted), flags[2:], sum_kind)
        return m

    def _beside_sum(
        self, m: Module, lhs: data.View, rhs: data.View, is_integral: Value, is_fraction: Value
    ) -> tuple[Value, data.View]:
        """(how far the smaller number is shifted, all of the raw sum but its significand)."""
        shift = record(distance_layout(SIGNIFICAND_BITS), name="shift")
        forward, backward = Signal(EXPONENT_BITS + 1), Signal(EXPONENT_BITS + 1)
        # The sign of the difference comes before `smaller`, and is equivalent.
        amount = Mux(forward[-1], backward, forward)[:EXPONENT_BITS]
        m.d.comb += [
            forward.eq(lhs.exponent - rhs.exponent),
            backward.eq(rhs.exponent - lhs.exponent),
            shift.amount.eq(amount[:AMOUNT_BITS] | amount[AMOUNT_BITS:].any().replicate(AMOUNT_BITS)),
            shift.shifts_left_term.eq(self.smaller),
            shift.exponent.eq(Mux(forward[-1], rhs.exponent, lhs.exponent) - BIAS + self.doubles),
        ]
        own = raw_beside_sum(m, lhs, rhs, shift, headroom=_HEADROOM)
        raw = Signal.like(own, name="raw")
        m.d.comb += raw.eq(own)
        with m.If(is_fraction):
            m.d.comb += [raw.nan.eq(lhs.nan | lhs.infinite), raw.sign.eq(0), raw.zero_sign.eq(0), raw.truncate.eq(1)]
        with m.Elif(is_integral):
            m.d.comb += [raw.sign.eq(lhs.sign), raw.zero_sign.eq(lhs.sign)]
        return Value.cast(shift.amount), raw

    def _add(self, m: Module, raw: data.View, larger: Value, smaller: Value, flags: Value, sum_kind: Value) -> None:
        subtract, masks, is_integral, sign = flags
        half, sticky, unit = smaller[LOW_BITS - 1], smaller[: LOW_BITS - 1].any(), smaller[LOW_BITS]
        rounds_up = Signal()
        with m.Switch(sum_kind):
            with m.Case(Sum.CEIL.value):
                m.d.comb += rounds_up.eq((half | sticky) & ~sign)
            with m.Case(Sum.FLOOR.value):
                m.d.comb += rounds_up.eq((half | sticky) & sign)
            with m.Case(Sum.RNDNE.value):
                m.d.comb += rounds_up.eq(half & (sticky | unit))
            with m.Case(Sum.UP.value):
                m.d.comb += rounds_up.eq(half & (sticky | ~sign))
        # Ones below the unit propagate a carry from below to it.
        carry = Mux(masks, sign, rounds_up)
        first = Cat(Const(0, LOW_BITS), larger ^ (masks & sign).replicate(SIGNIFICAND_BITS))
        upper = Mux(masks, 0, smaller[LOW_BITS:])
        second = Cat(Mux(masks | is_integral, carry.replicate(LOW_BITS), smaller[:LOW_BITS]), upper)
        inverts = subtract & ~masks
        total = Cat(Const(1, 1), first, Const(0, 1)) + Cat(
            inverts | carry, (second ^ inverts.replicate(len(second))), inverts
        )
        mask = Cat(Const(0, LOW_BITS), smaller[LOW_BITS:], Const(0, 1))
        m.d.comb += [
            *(
                getattr(self.raw, name).eq(getattr(raw, name))
                for name in ("exponent", "sign", "zero_sign", "infinite", "nan", "truncate")
            ),
            self.raw.significand.eq(Mux(masks, total[1:] & mask, total[1 : RAW_BITS + 1])),
        ]
