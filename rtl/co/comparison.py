"""Whether a conditional value passes its test."""

from collections.abc import Mapping

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.selection import is_nan, is_zero
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.limits import WORD_BITS

_TESTS: Mapping[ConditionalTest, tuple[str, ...]] = {
    ConditionalTest.NEVER: (),
    ConditionalTest.LESS: ("less",),
    ConditionalTest.LESS_EQUAL: ("less", "equal"),
    ConditionalTest.EQUAL: ("equal",),
    ConditionalTest.GREATER_EQUAL: ("equal", "greater"),
    ConditionalTest.GREATER: ("greater",),
    ConditionalTest.NOT_EQUAL: ("less", "greater", "unordered"),
    ConditionalTest.ALWAYS: ("less", "equal", "greater", "unordered"),
}
"""The outcomes of a comparison that pass each test."""
_PASSES = data.StructLayout({"less": 1, "equal": 1, "greater": 1, "unordered": 1})


class Comparison(wiring.Component):
    """Tests (conditional value) OP (conditional buffer). Combinational.

    As floats denormals are zeros, both zeros are equal, and a NaN passes NOT_EQUAL only. As integers all 32 bits are an
    unsigned number. NEVER and ALWAYS do not depend on the operands.

    Members
    -------
    value, stored : ``In(32)``
    is_float : ``In(1)``
    test : ``In(ConditionalTest)``
    passes : ``Out(1)``
    """

    value: In(WORD_BITS)
    stored: In(WORD_BITS)
    is_float: In(1)
    test: In(ConditionalTest)
    passes: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        unordered = self.is_float & (is_nan(self.value) | is_nan(self.stored))
        # Both zeros have different ranks, but the right order with all other numbers.
        zeros = self.is_float & is_zero(self.value) & is_zero(self.stored)
        value, stored = (self._rank(m, word) for word in (self.value, self.stored))
        # A separate equality is not on the carry chain of the other comparison.
        below, equal = value < stored, zeros | ~(self.value ^ self.stored).any()
        # The test is known long before the stored value: it selects which of the four outcomes pass.
        passes = Signal(_PASSES)
        with m.Switch(self.test):
            for test, outcomes in _TESTS.items():
                with m.Case(test):
                    m.d.comb += [passes[name].eq(1) for name in outcomes]
        differing = Mux(below, passes.less, passes.greater)
        m.d.comb += self.passes.eq(Mux(unordered, passes.unordered, Mux(equal, passes.equal, differing)))
        return m

    def _rank(self, m: Module, word: Value) -> Value:
        """A number that is larger for a larger word, the same for equal ones but for zeros."""
        rank, sign = Signal(WORD_BITS, name="rank"), word[-1] & self.is_float
        m.d.comb += rank.eq(Cat(word[:-1] ^ sign.replicate(WORD_BITS - 1), word[-1] ^ self.is_float))
        return rank
