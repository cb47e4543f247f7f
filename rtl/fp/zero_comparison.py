"""Results against zero, for predicates and branch decisions.

Source: CTM Guide pp. 32, 41.
"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import Word
from ctm.rtl.fp.selection import is_nan, is_zero
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.views import view


class Comparison(data.Struct):
    """Which comparisons of a number with zero hold; for a NaN only `not_equal` does."""

    equal: 1
    less: 1
    greater_equal: 1
    not_equal: 1


class ZeroComparison(wiring.Component):
    """Compares a word with zero; a denormal is a zero. Latency is 0.

    Members
    -------
    word : ``In(32)``
    holds : ``Out(Comparison)``
    """

    word: In(WORD_BITS)
    holds: Out(Comparison)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        zero, nan, sign = is_zero(self.word), is_nan(self.word), view(Word, self.word).sign
        m.d.comb += [
            self.holds.equal.eq(zero),
            self.holds.less.eq(sign & ~zero & ~nan),
            self.holds.greater_equal.eq((~sign | zero) & ~nan),
            self.holds.not_equal.eq(~zero),
        ]
        return m
