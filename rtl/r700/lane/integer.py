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
"""Bits of the distance by which the second step rotates."""
_LOW_BITS = 3
"""Bits of the distance that tell apart the bits of one byte."""


class IntegerUnit(wiring.Component):
    """Computes what IntegerOperation names of two words.

    Shifts are rotations to the right, of which some bits are kept; in place of others comes what is not rotated: the
    fill, and of other operations, which keep none, the result. Counts above 31 shift everything out. Latency is
    `product` of the configuration: it stands beside the sum of the partial products, and what it has left to do beside
    the product's rounding. One result per cycle.

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
        left, count, distance = Signal(), b[:_COUNT_BITS], Signal(_COUNT_BITS)
        shifts = left | (operation == IntegerOperation.LSHR) | (operation == IntegerOperation.ASHR)
        fill = a[-1] & (operation == IntegerOperation.ASHR)
        beyond = b[_COUNT_BITS:].any()
        m.d.comb += [left.eq(operation == IntegerOperation.LSHL), distance.eq(Mux(left, -count, count))]
        keeps = self._keeps(m, distance, ~left | ~count.any(), shifts & ~beyond)
        coarse, fine, kept, other = (
            delay(m, value, self.latency, name="halfway")
            for value in (
                _rotated(m, a, distance, range(_FINE_BITS, _COUNT_BITS)),
                distance[:_FINE_BITS],
                Value.cast(keeps),
                self._not_rotated(m, shifts, fill),
            )
        )
        rotated = _rotated(m, coarse, fine, range(_FINE_BITS))
        m.d.comb += self.result.eq((rotated & kept) | (other & ~kept))
        return m

    def _keeps(self, m: Module, distance: Value, right: Value, keeps_any: Value) -> Signal:
        """Bits of the rotated word that a shift keeps: those that came from above, or with `right` the others."""
        low, high = distance[:_LOW_BITS], distance[_LOW_BITS:]
        carries, keeps = Signal(1 << _LOW_BITS, name="carries"), Signal(WORD_BITS, name="keeps")
        m.d.comb += carries.eq(Cat(place + low >= 1 << _LOW_BITS for place in range(1 << _LOW_BITS)))
        top = WORD_BITS >> _LOW_BITS
        for byte in range(top):
            ends = Signal(2, name="from_above")
            m.d.comb += ends.eq(Cat(((byte + high + carry >= top) ^ right) & keeps_any for carry in range(2)))
            for place, carry in enumerate(carries):
                m.d.comb += keeps[(byte << _LOW_BITS) + place].eq(Mux(carry, ends[1], ends[0]))
        return keeps

    def _not_rotated(self, m: Module, shifts: Value, fill: Value) -> Value:
        """Of a shift its fill; the sum, or the logic of two words. One LUT for each bit of either."""
        a, b, operation = self.a, self.b, Value.cast(self.operation)
        subtract = self.operation == IntegerOperation.SUB
        # a - b = a + ~b + 1, and the 1 comes in from below.
        total = Cat(subtract, a) + Cat(subtract, b ^ subtract.replicate(WORD_BITS))
        ands = ~operation[1]
        xors = operation[0] ^ operation[1]
        inverts = operation[0] & operation[1]
        logic = (a & b & _mask(ands)) | ((a ^ b) & _mask(xors)) | (~a & _mask(inverts))
        computes, first = Signal(), Signal()
        is_sum = subtract | (self.operation == IntegerOperation.ADD)
        m.d.comb += [computes.eq(~shifts), first.eq(Mux(shifts, fill, is_sum))]
        result = Signal(WORD_BITS, name="not_rotated")
        m.d.comb += result.eq(
            (total[1 : WORD_BITS + 1] & _mask(computes & first))
            | (logic & _mask(computes & ~first))
            | _mask(~computes & first)
        )
        return result


assert [IntegerOperation(number).name for number in range(4)] == ["AND", "OR", "XOR", "NOT"]


def _mask(bit: Value) -> Value:
    return bit.replicate(WORD_BITS)


def _rotated(m: Module, word: Value, distance: Value, levels: range) -> Value:
    """The word rotated right by these bits of the distance."""
    for level in reversed(levels):
        rotated = Signal(WORD_BITS, name="rotated")
        m.d.comb += rotated.eq(Mux(distance[level], word.rotate_right(1 << level), word))
        word = rotated
    return word
