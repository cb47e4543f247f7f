"""Operands of the ALU: registers, constants, values and previous results, with their modifiers; all are words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctm.rtl.isa.r700.alu import IndexMode
from ctm.sim.engines.fast.r700.constants import Constants
from ctm.sim.engines.fast.r700.draws.primitives import Primitives
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.r700.registers import Registers
from ctm.sim.engines.fast.vector.lanes import MAGNITUDE, SIGN, Lanes, Value
from ctm.sim.golden.r700.instruction import Bank, Operand


@dataclass
class ClauseState:
    """What lives as long as an ALU clause: AR by channels, the predicate, and the results of the last group by slot.

    `cleared` are the lanes that the clause took out of the branch mask. Masks are of 0 and -1, as `Lanes.mask` makes
    them.
    """

    address: list[Value]
    predicate: Value
    cleared: Value
    previous: Mapping[int, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Operands:
    """Reads operands."""

    lanes: Lanes
    registers: Registers
    constants: Constants
    masks: Masks
    primitives: Primitives | None = None
    """Of a draw, the constants of its primitive."""

    def read(self, operand: Operand, state: ClauseState, *, is_float: bool) -> Value:
        """An operand's words after ABS and NEG; with `is_float` LLVM cannot tell their source, see `Lanes.fenced`."""
        builder, words = self.lanes.builder, self._source(operand, state)
        if operand.absolute:
            words = builder.and_(words, self.lanes.integer(MAGNITUDE))
        if operand.negated:
            words = builder.xor(words, self.lanes.integer(SIGN))
        return self.lanes.words(self.lanes.fenced(self.lanes.as_floats(words))) if is_float else words

    def _source(self, operand: Operand, state: ClauseState) -> Value:
        number, channel = operand.number, operand.channel
        if operand.bank is Bank.VALUE:
            return self.lanes.integer(number)
        if operand.bank is Bank.PREVIOUS:
            return state.previous[number]
        if operand.bank is Bank.PRIMITIVE:
            assert self.primitives is not None
            return self.primitives.read(operand.kcache_bank, number, channel)
        rows = self.registers if operand.bank is Bank.GPR else self.constants
        if operand.index is None:
            return rows.read(number, channel)
        if operand.index is IndexMode.LOOP:
            return rows.read_at(number, self.masks.loop_index, channel)
        return rows.read_each(number, state.address[operand.index.value], channel)
