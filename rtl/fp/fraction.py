"""FRC as a sum: a - floor(a) is the fraction bits of |a|, and for a negative `a` 1 minus them.

Rounded towards zero, so never 1. Source: CTM Guide p. 28; docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Signal, Value

from rtl.fp.number import BIAS, ONE, SIGNIFICAND_BITS, WORD_BITS, Operand, unpack


def operands(m: Module, a: Value, b: Value, c: Value, fraction: Value) -> tuple[Operand, Operand, Operand]:
    """The operands of a product sum for a * b + c, or with `fraction` for the fraction of `a`."""
    one = unpack(m, Const(ONE, WORD_BITS), name="one")
    unpacked_a = unpack(m, a, name="a")
    bits, is_whole = _fraction_bits(m, unpacked_a)
    first, second, addend = Signal(Operand), Signal(Operand), Signal(Operand)
    m.d.comb += [
        first.eq(unpacked_a),
        second.eq(unpack(m, b, name="b")),
        addend.eq(unpack(m, c, name="c")),
    ]
    with m.If(fraction):
        m.d.comb += [first.eq(one), second.eq(one), addend.eq(bits)]
        with m.If(~a[-1] | is_whole):
            m.d.comb += [first.significand.eq(0), first.zero.eq(1)]
    return first, second, addend


def _fraction_bits(m: Module, a: Operand) -> tuple[Operand, Value]:
    """(`a` without the bits of its integer part and not normalised, whether nothing is left of it)."""
    bits, is_whole = Signal(Operand, name="fraction"), Signal()
    # Bit i of the significand has a weight below 1 if a < 2^(23 - i).
    below_one = Cat(a.exponent < BIAS + SIGNIFICAND_BITS - 1 - index for index in range(SIGNIFICAND_BITS))
    m.d.comb += [
        bits.eq(a),
        bits.significand.eq(a.significand & below_one),
        bits.zero.eq(is_whole),
        bits.nan.eq(a.nan | a.infinite),
        bits.infinite.eq(0),
        is_whole.eq(~bits.significand.any()),
    ]
    return bits, is_whole
