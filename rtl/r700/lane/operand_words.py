"""The first step of a slot: operands with their modifiers, and the words that need no arithmetic unit."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import FRACTION_BITS, ONE
from ctm.rtl.fp.selection import is_nan, is_zero
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.choice import chosen_operand
from ctm.rtl.r700.border.lane import SLOT_OPERANDS, Lhs, Relation, Rhs, SlotControl, Test, Type
from ctm.rtl.r700.lane.adder import FRACTION_MASK, INTEGRAL, is_below_one
from ctm.rtl.r700.lane.comparison import relation_to_zero

MINUS_ZERO = 0x8000_0000
LARGEST = 0x7F7F_FFFF


class OperandWords(wiring.Component):
    """Applies ABS and NEG, chooses the words that do not come from an arithmetic unit, compares with zero.

    Combinational. Only slot t executes MUL_LIT.

    Members
    -------
    operands : ``In(ArrayLayout(32, 3))``
    control : ``In(SlotControl)``
    words : ``Out(ArrayLayout(32, 2))``
        Operands 0 and 1 with their modifiers.
    lhs : ``Out(32)``
        If it is an operand.
    rhs : ``Out(32)``
    relation : ``Out(Relation)``
        The tested relation, if it is not that of `lhs` to `rhs`.
    """

    operands: In(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS))
    control: In(SlotControl)
    words: Out(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS - 1))
    lhs: Out(WORD_BITS)
    rhs: Out(WORD_BITS)
    relation: Out(Relation)

    latency = 0

    def __init__(self, *, is_trans: bool) -> None:
        self._is_trans = is_trans
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        control = self.control
        first, second, third = self._modified(m)
        m.d.comb += [
            self.words[0].eq(first),
            self.words[1].eq(second),
            self.lhs.eq(Mux(control.lhs == Lhs.OPERAND_1, second, first)),
            self.rhs.eq(self._right(m, first, second, third)),
        ]
        is_float = control.type == Type.FLOAT
        with m.Switch(control.test):
            with m.Case(Test.FIRST):
                m.d.comb += self.relation.eq(relation_to_zero(m, first, is_float))
            with m.Case(Test.SECOND):
                with m.If(is_zero(first)):
                    m.d.comb += self.relation.eq(relation_to_zero(m, second, is_float))
            if self._is_trans:
                with m.Case(Test.LIT):
                    m.d.comb += self.relation.equal.eq(_is_dark(m, second, third))
        return m

    def _modified(self, m: Module) -> list[Signal]:
        absolute = Cat(self.control.absolute, Const(0, 1))
        modified = [Signal(WORD_BITS, name=f"modified_{index}") for index in range(SLOT_OPERANDS)]
        m.d.comb += [
            word.eq(Cat(operand[:-1], (operand[-1] & ~absolute[index]) ^ self.control.negate[index]))
            for index, (word, operand) in enumerate(zip(modified, self.operands, strict=True))
        ]
        return modified

    def _right(self, m: Module, first: Value, second: Value, third: Value) -> Value:
        rhs, sign = self.control.rhs, first[-1]
        is_fraction, below_one = rhs == Rhs.FRACTION, is_below_one(first)
        takes = rhs == Rhs.OPERAND_1, rhs == Rhs.OPERAND_2
        constants = {
            MINUS_ZERO: (rhs == Rhs.MINUS_ZERO) | ((rhs == Rhs.INTEGRAL) & sign),
            ONE: (rhs == Rhs.ONE) | (is_fraction & below_one & sign & ~is_zero(first)),
            LARGEST: rhs == Rhs.LARGEST,
            INTEGRAL: rhs == Rhs.INTEGRAL,
            FRACTION_MASK: is_fraction & ~below_one,
        }
        return chosen_operand(m, (second, third), takes, constants, name="takes")


def _is_dark(m: Module, second: Value, third: Value) -> Value:
    """Whether MUL_LIT gives -MAX_FLOAT: unless operand 1 is above that, and operand 2 above 0."""
    magnitude = second[:-1]
    exponent, fraction = magnitude[FRACTION_BITS:], magnitude[:FRACTION_BITS]
    is_largest = exponent.all() | (exponent[1:].all() & fraction.all())
    third_relation = relation_to_zero(m, third, Const(1))
    return Value.cast(is_nan(second) | (second[-1] & is_largest) | ~third_relation.greater)
