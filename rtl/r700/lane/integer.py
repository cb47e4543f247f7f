"""Logic, sums and shifts of 32-bit integers.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.entries import IntegerOperation

_COUNT_BITS = (WORD_BITS - 1).bit_length()
_FINE_BITS = 2
"""Bits of the count by which the second step shifts."""


class IntegerUnit(wiring.Component):
    """Computes what IntegerOperation names of two words.

    Counts above 31 shift everything out. Latency is `product` of the configuration: it stands beside the sum of the
    partial products, and what it has left to do beside the product's rounding. One result per cycle.

    Members
    -------
    a, b : ``In(32)``
    operation : ``In(IntegerOperation)``
    result : ``Out(32)``
    """

    a: In(WORD_BITS)
    b: In(WORD_BITS)
    operation: In(IntegerOperation)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.product
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        a, b, operation = self.a, self.b, self.operation
        # There is one shifter, to the right: the other direction is that of the word read backwards.
        left = operation == IntegerOperation.LSHL
        shifts = left | (operation == IntegerOperation.LSHR) | (operation == IntegerOperation.ASHR)
        fill = a[-1] & (operation == IntegerOperation.ASHR)
        # A count above 31 leaves the fill, however far that is shifted then.
        beyond = b[_COUNT_BITS:].any()
        coarse = _shifted(m, Mux(beyond, fill.replicate(WORD_BITS), Mux(left, a[::-1], a)), b, fill, high=True)

        coarse, count, fill, left, shifts, other = (
            delay(m, value, self.latency, name="halfway")
            for value in (coarse, b[:_FINE_BITS], fill, left, shifts, self._sum_or_logic(m))
        )
        shifted = _shifted(m, coarse, count, fill, high=False)
        m.d.comb += self.result.eq(Mux(shifts, Mux(left, shifted[::-1], shifted), other))
        return m

    def _sum_or_logic(self, m: Module) -> Value:
        a, b, operation = self.a, self.b, self.operation
        subtract = operation == IntegerOperation.SUB
        # a - b = a + ~b + 1, and the 1 comes in from below.
        total = Cat(subtract, a) + Cat(subtract, b ^ subtract.replicate(WORD_BITS))
        result = Signal(WORD_BITS)
        with m.Switch(operation):
            with m.Case(IntegerOperation.AND):
                m.d.comb += result.eq(a & b)
            with m.Case(IntegerOperation.OR):
                m.d.comb += result.eq(a | b)
            with m.Case(IntegerOperation.XOR):
                m.d.comb += result.eq(a ^ b)
            with m.Case(IntegerOperation.NOT):
                m.d.comb += result.eq(~a)
            with m.Default():
                m.d.comb += result.eq(total[1:])
        return result


def _shifted(m: Module, word: Value, count: Value, fill: Value, *, high: bool) -> Value:
    """The word shifted right by the upper or lower bits of the count, with `fill` from above."""
    levels = range(_FINE_BITS, _COUNT_BITS) if high else range(_FINE_BITS)
    for level in reversed(levels):
        shifted = Signal(WORD_BITS, name="shifted")
        m.d.comb += shifted.eq(Mux(count[level], Cat(word[1 << level :], fill.replicate(1 << level)), word))
        word = shifted
    return word
