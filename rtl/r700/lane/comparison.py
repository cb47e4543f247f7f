"""The relation of two words: for comparisons, and for sums, whose smaller number is shifted.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.selection import is_nan, is_zero
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.lane import Relation, Type


class Comparison(wiring.Component):
    """Compares two words as floats, signed or unsigned integers. Combinational.

    Of floats, denormals are zeros and zeros are equal.

    Members
    -------
    lhs, rhs : ``In(32)``
    type : ``In(Type)``
    relation : ``Out(Relation)``
        Of `lhs` to `rhs`.
    smaller : ``Out(1)``
        Whether `lhs` without its highest bit is smaller than `rhs`.
    """

    lhs: In(WORD_BITS)
    rhs: In(WORD_BITS)
    type: In(Type)
    relation: Out(Relation)
    smaller: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lhs, rhs, relation = self.lhs, self.rhs, self.relation
        is_float = self.type == Type.FLOAT
        sign, other_sign = lhs[-1], rhs[-1]
        same_magnitude, equal, less, ordered = Signal(), Signal(), Signal(), Signal()
        both_zero = is_float & is_zero(lhs) & is_zero(rhs)
        # Of two negative floats the one with the smaller magnitude is larger.
        same_sign_less = Mux(is_float & sign, ~self.smaller & ~same_magnitude, self.smaller)
        m.d.comb += [
            self.smaller.eq(lhs[:-1] < rhs[:-1]),
            same_magnitude.eq(lhs[:-1] == rhs[:-1]),
            equal.eq(both_zero | (same_magnitude & (sign == other_sign))),
            less.eq(
                ~both_zero & Mux(sign == other_sign, same_sign_less, Mux(self.type == Type.UNSIGNED, other_sign, sign))
            ),
            relation.first_nan.eq(is_float & is_nan(lhs)),
            relation.second_nan.eq(is_float & is_nan(rhs) & ~is_nan(lhs)),
            ordered.eq(~relation.first_nan & ~relation.second_nan),
            relation.less.eq(ordered & less),
            relation.equal.eq(ordered & equal),
            relation.greater.eq(ordered & ~less & ~equal),
        ]
        return m


def relation_to_zero(m: Module, word: Value, is_float: Value) -> Relation:
    """The relation of a float or signed integer to zero."""
    relation = record(Relation, name="relation_to_zero")
    zero = Mux(is_float, is_zero(word), ~word.any())
    nan = is_float & is_nan(word)
    m.d.comb += [
        relation.less.eq(word[-1] & ~zero & ~nan),
        relation.equal.eq(zero),
        relation.greater.eq(~word[-1] & ~zero & ~nan),
        relation.first_nan.eq(nan),
        relation.second_nan.eq(0),
    ]
    return relation
