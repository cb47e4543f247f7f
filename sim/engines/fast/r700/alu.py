"""ALU groups: all operands are read before any result is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctm.rtl.isa.r700.alu import IndexMode, PredicateSelect
from ctm.sim.engines.fast.r700.formulas import (
    ANY_NAN,
    INDICES,
    PREDICATES,
    READ_FLOATS,
    REDUCTIONS,
    VALUES,
    Unit,
    modify,
)
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.r700.operands import ClauseState, Operands
from ctm.sim.engines.fast.r700.registers import Registers
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.engines.fast.vector.selection import canonical
from ctm.sim.golden.r700.instruction import Group, Operand, Run, Slot


class _Outcome(NamedTuple):
    """What a slot computes: words, and bits."""

    words: Value
    condition: Value | None = None
    """Of a PRED_SET or KILL."""
    address: Value | None = None
    """What AR takes."""


@dataclass(frozen=True)
class Alu:
    """Executes groups."""

    unit: Unit
    registers: Registers
    operands: Operands
    masks: Masks
    dx10_clamp: bool

    @property
    def _lanes(self) -> Lanes:
        return self.unit.lanes

    def execute(self, group: Group, state: ClauseState, executing: Value) -> None:
        """Execute a group for the lanes in `executing`."""
        slots = [slot for run in group.runs for slot in run.slots]
        outcomes = [outcome for run in group.runs for outcome in self._compute(run, state)]
        gates = [self._gate(slot, state, executing) for slot in slots]
        state.previous = {slot.position: outcome.words for slot, outcome in zip(slots, outcomes, strict=True)}
        indices = list(state.address)
        for slot, outcome, gate in zip(slots, outcomes, gates, strict=True):
            if slot.writes:
                self._write(slot, outcome.words, indices, gate)
            if outcome.address is not None:
                before = state.address[slot.channel]
                state.address[slot.channel] = self._lanes.where(gate, outcome.address, before)
            if outcome.condition is not None:
                self._take_effect(slot, self._lanes.mask(outcome.condition), state, gate)

    def _compute(self, run: Run, state: ClauseState) -> Sequence[_Outcome]:
        if run.slots[0].operation.is_reduction:
            return self._reduce(run, state)
        return [self._compute_slot(slot, state) for slot in run.slots]

    def _compute_slot(self, slot: Slot, state: ClauseState) -> _Outcome:
        operation = slot.operation
        words = [self._read(slot, operand, state) for operand in slot.operands]
        if operation.sets_predicate or operation.kills:
            result, condition = PREDICATES[operation.name](self.unit, *words)
            return _Outcome(self._modified(slot, result), condition)
        result = self._modified(slot, VALUES[operation.name](self.unit, *words))
        address = INDICES[operation.name](self.unit, words[0]) if operation.sets_address else None
        return _Outcome(result, address=address)

    def _reduce(self, run: Run, state: ClauseState) -> Sequence[_Outcome]:
        """Every slot's result is modified by its own modifiers."""
        columns = [
            [self._read(slot, operand, state) for slot, operand in zip(run.slots, column, strict=True)]
            for _, column in run.operands
        ]
        first, second = columns if len(columns) > 1 else (columns[0], ())
        results = REDUCTIONS[run.slots[0].operation.name](self.unit, first, second)
        return [_Outcome(self._modified(slot, words)) for slot, words in zip(run.slots, results, strict=True)]

    def _read(self, slot: Slot, operand: Operand, state: ClauseState) -> Value:
        return self.operands.read(operand, state, is_float=slot.operation.name in READ_FLOATS)

    def _modified(self, slot: Slot, words: Value) -> Value:
        lanes = self._lanes
        if slot.operation.name in ANY_NAN:
            words = lanes.words(canonical(lanes, lanes.as_floats(words)))
        return modify(lanes, words, slot.omod, clamp=slot.clamp, dx10_clamp=self.dx10_clamp)

    def _gate(self, slot: Slot, state: ClauseState, executing: Value) -> Value:
        """Lanes in which an instruction has an effect."""
        builder = self._lanes.builder
        if slot.predicate is PredicateSelect.OFF:
            return executing
        is_one = slot.predicate is PredicateSelect.ONE
        return builder.and_(executing, state.predicate if is_one else builder.not_(state.predicate))

    def _write(self, slot: Slot, words: Value, indices: Sequence[Value], gate: Value) -> None:
        if slot.index is None:
            self.registers.write(slot.register, slot.channel, words, gate)
        elif slot.index is IndexMode.LOOP:
            self.registers.write_at(slot.register, self.masks.loop_index, slot.channel, words, gate)
        else:
            self.registers.write_each(slot.register, indices[slot.index.value], slot.channel, words, gate)

    def _take_effect(self, slot: Slot, condition: Value, state: ClauseState, gate: Value) -> None:
        """What a PRED_SET or KILL does besides its result."""
        lanes, builder = self._lanes, self._lanes.builder
        if slot.operation.kills:
            self.masks.kill(builder.and_(gate, condition))
            return
        if slot.updates_predicate:
            state.predicate = lanes.where(gate, condition, state.predicate)
        if slot.updates_execute_mask:
            off = self.masks.remove(builder.and_(gate, builder.not_(condition)))
            state.cleared = builder.or_(state.cleared, off)
