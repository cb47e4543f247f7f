"""Uniform operands, which are the same in all pixels: constants, literals, inline constants.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7.
"""

from itertools import product, zip_longest

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, GROUP_SLOTS
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.operands import OPERAND, OPERANDS, VALUE_BITS, Source, Uniform
from ctm.rtl.r700.border.lane import GROUP_OPERANDS


def uniform_operands(m: Module, decoded: data.View, constants: Value, *, is_first: Value, is_last: Value) -> data.View:
    """The words of a group's uniform operands, after the cycle `is_last`.

    The word of an operand that is not uniform is all ones if that is the previous result of slot t, else 0. One unit
    finds half of the operands in the last cycle but one, the other half in the last. `constants` are the row of the
    group's first pair in the cycle `is_first`, and that of the second pair in the next cycle, the last but one.
    """
    words = _pairs(m, decoded, constants, is_first, is_last)
    words += [decoded.literals[channel] for channel in range(CHANNELS)]
    uniform: data.View = record(GROUP_OPERANDS, name="uniform", reset_less=True)
    positions = list(product(range(GROUP_SLOTS), range(OPERANDS)))
    half = -(-len(positions) // 2)
    for first_operand, second_operand in zip_longest(positions[:half], positions[half:]):
        wanted: data.View = record(OPERAND, name="wanted")
        one, other = (
            Value.cast(decoded.operands[slot][number])
            for slot, number in (first_operand, second_operand or first_operand)
        )
        m.d.comb += Value.cast(wanted).eq(Mux(is_last, other, one))
        word, held = _uniform_word(m, wanted, words), Signal(WORD_BITS, name="word_before", reset_less=True)
        m.d.sync += held.eq(word)
        with m.If(is_last):
            m.d.sync += uniform[first_operand[0]][first_operand[1]].eq(held)
            if second_operand:
                m.d.sync += uniform[second_operand[0]][second_operand[1]].eq(word)
    return uniform


def _pairs(m: Module, decoded: data.View, constants: Value, is_first: Value, is_last: Value) -> list[Value]:
    """The two words of both pairs, those of the second one in the last two cycles."""
    now, first, second = (Signal(2 * WORD_BITS, name=name, reset_less=True) for name in ("pair", "first", "second"))
    pairs = [decoded.pairs[number] for number in range(CONSTANT_PAIRS)]
    exists, half = (Mux(is_first, pairs[0][name], pairs[1][name]) for name in ("exists", "half"))
    m.d.comb += now.eq(Mux(exists, Value.cast(constants).word_select(half, 2 * WORD_BITS), 0))
    with m.If(is_first):
        m.d.sync += first.eq(now)
    m.d.sync += second.eq(now)
    return [pair.word_select(number, WORD_BITS) for pair in (first, Mux(is_last, second, now)) for number in range(2)]


def _uniform_word(m: Module, wanted: data.View, words: list[Value]) -> Value:
    """A word of the pairs or literals, an inline constant, or the select of another operand."""
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
