"""Logic and sums of 32-bit integers.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import IntegerOperation
from ctm.rtl.r700.lane.shift import is_shift


class IntegerUnit(wiring.Component):
    """Computes an IntegerOperation of two words; 0 for a shift (shift.py).

    Latency is `product` of the configuration: it stands beside the sum of the partial products. One result per cycle.

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
        a, b, operation = self.a, self.b, Value.cast(self.operation)
        subtract = self.operation == IntegerOperation.SUB
        # a - b = a + ~b + 1, with the 1 as the carry in.
        total = Cat(subtract, a) + Cat(subtract, b ^ subtract.replicate(WORD_BITS))
        ands = ~operation[1]
        xors = operation[0] ^ operation[1]
        inverts = operation[0] & operation[1]
        logic = (a & b & _mask(ands)) | ((a ^ b) & _mask(xors)) | (~a & _mask(inverts))
        adds, is_logic = Signal(), Signal()
        m.d.comb += [
            adds.eq(subtract | (self.operation == IntegerOperation.ADD)),
            is_logic.eq(~adds & ~is_shift(operation)),
        ]
        # One LUT for each bit of the sum, and of the other operations.
        result = (total[1 : WORD_BITS + 1] & _mask(adds)) | (logic & _mask(is_logic))
        m.d.comb += self.result.eq(delay(m, result, self.latency, name="result"))
        return m


assert [IntegerOperation(number).name for number in range(4)] == ["AND", "OR", "XOR", "NOT"]


def _mask(bit: Value) -> Value:
    return bit.replicate(WORD_BITS)
