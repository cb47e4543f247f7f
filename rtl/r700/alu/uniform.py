"""Operands that are the same in all pixels: constants, literals, numbers that have a code of their own.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS
from ctm.rtl.r700.alu.operands import VALUE_BITS, Source, Uniform


def uniform_word(m: Module, wanted: data.View, words: list[Value]) -> Value:
    """The word of an operand, with `words` the two of each pair of constants, and the literals.

    Of an operand that is not uniform it is all ones if that is the previous result of slot t, else 0.
    """
    is_constant = Value.cast(wanted.uniform) == Uniform.CONSTANT.value
    is_uniform = wanted.source == Source.UNIFORM
    is_named, fixed = Signal(name="is_named"), Signal(WORD_BITS, name="fixed")
    with m.If(~is_uniform):
        m.d.comb += [is_named.eq(1), fixed.eq((wanted.source == Source.SCALAR).replicate(WORD_BITS))]
    with m.Elif(~is_constant):
        for code, (_, bits) in INLINE_CONSTANTS.items():
            with m.If(wanted.value == code % (1 << VALUE_BITS)):
                m.d.comb += [is_named.eq(1), fixed.eq(bits)]
    number = Cat(wanted.channel[0], Mux(is_constant, wanted.pair, wanted.channel[1]), ~is_constant)
    word = Signal(WORD_BITS, name="uniform_word")
    m.d.comb += word.eq(Array(words)[number])
    return fixed | (word & ~is_named.replicate(WORD_BITS))
