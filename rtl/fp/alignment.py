"""Bringing two exact numbers to one exponent.

The number with the smaller exponent is shifted right. Two guard bits are enough: a number that loses more than them is
at least 8 times below the other one's leading bit, the sum keeps its magnitude but for one bit, and what was lost only
decides about rounding, for which one sticky bit does.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.fp.number import WIDE_EXPONENT
from ctm.rtl.lib.shift import shift_right_sticky
from ctm.rtl.lib.views import record

GUARD_BITS = 2
LOW_BITS = GUARD_BITS + 1
"""Bits below a term's own after the alignment: guard and sticky."""


def distance_layout(significand_bits: int) -> data.StructLayout:
    """How far which of two terms is shifted; `exponent` is the one they then have in common."""
    return data.StructLayout(
        {
            "shifts_left_term": 1,
            "amount": (significand_bits + GUARD_BITS).bit_length(),
            "exponent": WIDE_EXPONENT,
        }
    )


def distance(m: Module, left: Value, right: Value, *, significand_bits: int, forced: Value | None = None) -> data.View:
    """What aligns a left and a right term of these exponents.

    `forced` shifts the left term whatever the exponents, of which the right one is not smaller then.
    """
    result = record(distance_layout(significand_bits), name="distance")
    largest = (1 << len(result.amount)) - 1
    difference, opposite, amount = Signal(WIDE_EXPONENT), Signal(WIDE_EXPONENT), Signal(len(left))
    right_is_larger = difference[-1] if forced is None else difference[-1] | forced
    m.d.comb += [
        difference.eq(left - right),
        opposite.eq(right - left),
        result.shifts_left_term.eq(right_is_larger),
        amount.eq(Mux(right_is_larger, opposite, difference)),
        # Farther than all bits is as far as all bits.
        result.amount.eq(Mux(amount[len(result.amount) :].any(), largest, amount)),
        result.exponent.eq(Mux(right_is_larger, right, left)),
    ]
    return result


def aligned(m: Module, significand: Value, amount: Value) -> Value:
    """A significand shifted right by `amount`, with LOW_BITS more bits, the lowest of them sticky."""
    shifted, sticky = shift_right_sticky(m, Cat(Const(0, GUARD_BITS), significand), amount)
    return Cat(sticky, shifted)
