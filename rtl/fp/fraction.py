"""FRC as a sum: a - floor(a) is what |a| has behind the binary point, or for a negative `a` 1 minus that.

Rounded towards zero, so never 1. Source: CTM Guide p. 28; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Signal

from rtl.fp.number import BIAS, SIGNIFICAND_BITS, Operand


def fraction_bits(m: Module, a: Operand) -> Operand:
    """`a` without the bits of its integer part, not normalised; a NaN for an infinity too."""
    bits = Signal(Operand, name="fraction_bits")
    # Bit i of the significand has a weight below 1 if a < 2^(23 - i).
    below_one = Cat(a.exponent < BIAS + SIGNIFICAND_BITS - 1 - index for index in range(SIGNIFICAND_BITS))
    m.d.comb += [
        bits.eq(a),
        bits.significand.eq(a.significand & below_one),
        bits.zero.eq(~bits.significand.any()),
        bits.nan.eq(a.nan | a.infinite),
        bits.infinite.eq(0),
    ]
    return bits
