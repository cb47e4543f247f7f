"""Operands that are the same in all pixels: constants, literals, numbers that have a code of their own.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7.
"""

from typing import Any

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.operands import OPERANDS, VALUE_BITS, Source, Uniform
from ctm.rtl.r700.entries import GROUP_OPERANDS


def uniform_words(m: Module, decoded: data.View, pairs: list[Value]) -> Any:
    """The words of a group's operands, with `pairs` the two words of each pair of constants.

    Of an operand that is not uniform it is all ones if that is the previous result of slot t, else 0.
    """
    words = [*pairs, *(decoded.literals[channel] for channel in range(CHANNELS))]
    found: Any = record(GROUP_OPERANDS, name="uniform_words")
    for slot in range(GROUP_SLOTS):
        for number in range(OPERANDS):
            m.d.comb += found[slot][number].eq(_uniform_word(m, decoded.operands[slot][number], words))
    return found


def _uniform_word(m: Module, wanted: data.View, words: list[Value]) -> Value:
    """One of the pairs' and literals' words, a number that has a name, or what tells other operands apart."""
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
