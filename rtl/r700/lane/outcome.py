"""Whether a slot's condition holds, and the word that it selects as the result."""

from amaranth import Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import ONE
from ctm.rtl.fp.selection import is_zero
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.choice import chosen_operand
from ctm.rtl.r700.border.lane import Relation, SlotControl, Source
from ctm.rtl.r700.lane.operand_words import LARGEST, MINUS_ZERO

_ONES = (1 << WORD_BITS) - 1


class Outcome(wiring.Component):
    """Chooses the source of a slot's result. Combinational. Only slot t has LOWEST and POST_MULTIPLIED.

    Members
    -------
    lhs, rhs : ``In(32)``
    relation : ``In(Relation)``
        The relation that the control tests.
    control : ``In(SlotControl)``
    holds : ``Out(1)``
    source : ``Out(Source)``
    word : ``Out(32)``
        The result, if it is a word and not post-multiplied.
    """

    lhs: In(WORD_BITS)
    rhs: In(WORD_BITS)
    relation: In(Relation)
    control: In(SlotControl)
    holds: Out(1)
    source: Out(Source)
    word: Out(WORD_BITS)

    latency = 0

    def __init__(self, *, is_trans: bool) -> None:
        self._is_trans = is_trans
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        control, source = self.control, self.source
        m.d.comb += [
            self.holds.eq((Value.cast(self.relation) & Value.cast(control.accepts)).any()),
            source.eq(Mux(self.holds, Value.cast(control.if_true), Value.cast(control.if_false))),
        ]
        with m.If(control.inverts & ~self.holds & is_zero(self.lhs)):
            m.d.comb += source.eq(Source.ONE)
        constants = {ONE: source == Source.ONE, _ONES: source == Source.ONES}
        if self._is_trans:
            constants[LARGEST | MINUS_ZERO] = source == Source.LOWEST
        takes = source == Source.LHS, source == Source.RHS
        m.d.comb += self.word.eq(chosen_operand(m, (self.lhs, self.rhs), takes, constants, name="takes"))
        return m
