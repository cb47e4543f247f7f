"""Executes ALU groups: all operands are read before any result is written."""

from typing import NamedTuple

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.alu import PredicateSelect
from ctm.rtl.isa.r700.limits import VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import Result
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r700.formulas import INDICES, PREDICATES, REDUCTIONS, VALUES, modify
from ctm.sim.golden.r700.instruction import Group, Slot
from ctm.sim.golden.r700.operands import Value, index, operand, place
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch, whole_quads


class _Outcome(NamedTuple):
    """What a slot computes: the result, the condition of a PRED_SET or KILL, and what AR takes."""

    value: Value
    condition: Mask | None = None
    address: Integers | None = None


def execute(batch: Batch, program: Program, group: Group, *, whole: bool) -> None:
    """Execute a group for the active pixels, with `whole` for all of their quads.

    Raises
    ------
    RefusedError
        Memory answered with an error where a constant is; nothing was changed.
    """
    executing = whole_quads(batch.active) if whole else batch.active
    everywhere = bool(executing.all())
    outcomes = _compute(batch, program, group, executing)
    gates = [_gate(batch, slot, executing, everywhere) for slot in group.slots]
    for slot, outcome, gate in zip(group.slots, outcomes, gates, strict=True):
        words, is_clean = outcome.value
        batch.previous[slot.place] = words
        batch.previous_clean[slot.place] = is_clean
        if slot.writes:
            _write(batch, program, slot, outcome.value, gate)
        if outcome.address is not None:
            _store(batch.address[slot.channel], outcome.address, gate)
        if outcome.condition is not None:
            _take_effect(batch, slot, outcome.condition, gate)


def _compute(batch: Batch, program: Program, group: Group, executing: Mask) -> list[_Outcome]:
    operands = [[operand(batch, program, each, executing) for each in slot.operands] for slot in group.slots]
    outcomes: list[_Outcome] = []
    reduction: list[_Outcome] = []
    for number, (slot, values) in enumerate(zip(group.slots, operands, strict=True)):
        if slot.operation.is_reduction:
            if not reduction:
                reduction = _reduce(slot, operands[number : number + VECTOR_SLOTS])
            outcome = reduction[slot.place]
        else:
            outcome = _slot(slot, values)
        outcomes.append(outcome._replace(value=_modified(program, slot, outcome.value)))
    return outcomes


def _slot(slot: Slot, values: list[Value]) -> _Outcome:
    operation = slot.operation
    words = [value.words for value in values]
    clean = all(value.is_clean for value in values)
    if operation.sets_predicate or operation.kills:
        result, condition = PREDICATES[operation.name](*words, clean=clean)
        return _Outcome(Value(result, False), condition)
    result = VALUES[operation.name](*words, clean=clean)
    new = INDICES[operation.name](words[0]) if operation.sets_address else None
    return _Outcome(Value(result, _is_clean(slot, clean)), address=new)


def _is_clean(slot: Slot, clean: bool) -> bool:
    """Whether a result holds no denormal: arithmetic gives none, and neither 0 nor all ones is one."""
    if slot.operation.copies_bits:
        return clean
    return slot.operation.result is not Result.INTEGER


def _reduce(slot: Slot, operands: list[list[Value]]) -> list[_Outcome]:
    clean = all(value.is_clean for values in operands for value in values)
    sides = [[values[side].words for values in operands] for side in range(slot.operation.operands)]
    results = REDUCTIONS[slot.operation.name](*sides, clean=clean)
    return [_Outcome(Value(result, _is_clean(slot, clean))) for result in results]


def _modified(program: Program, slot: Slot, value: Value) -> Value:
    if not (slot.omod or slot.clamp):
        return value
    dx10_clamp = program.information.dx10_clamp
    words = modify(value.words, slot.omod, slot.clamp, dx10_clamp=dx10_clamp, clean=value.is_clean)
    return Value(words, True)


def _gate(batch: Batch, slot: Slot, executing: Mask, everywhere: bool) -> Mask | None:
    """Pixels in which an instruction has an effect; None means all."""
    if slot.predicate is PredicateSelect.OFF:
        return None if everywhere else executing
    chosen: Mask = batch.predicate if slot.predicate is PredicateSelect.ONE else ~batch.predicate
    return executing & chosen


def _store(target: Floats | Integers, values: Floats | Integers, gate: Mask | None) -> None:
    if gate is None:
        target[...] = values
    else:
        np.copyto(target, values, where=gate)


def _write(batch: Batch, program: Program, slot: Slot, value: Value, gate: Mask | None) -> None:
    if slot.index is not None:
        _write_relative(batch, program, slot, value, gate)
        return
    at = place(program, slot.register)
    if at is not None:
        _store(batch.temporaries[at, slot.channel], value.words, gate)
        flag = CHANNELS * at + slot.channel
        batch.clean[flag] = value.is_clean and (gate is None or batch.clean[flag])


def _write_relative(batch: Batch, program: Program, slot: Slot, value: Value, gate: Mask | None) -> None:
    assert slot.index is not None
    gprs = program.information.gprs
    numbers = np.broadcast_to(slot.register + index(batch, slot.index), batch.size)
    chosen = (numbers >= 0) & (numbers < gprs)
    lanes = np.flatnonzero(chosen if gate is None else chosen & gate)
    batch.temporaries[numbers[lanes], slot.channel, lanes] = np.broadcast_to(value.words, batch.size)[lanes]
    for number in np.unique(numbers[lanes]):
        flag = CHANNELS * int(number) + slot.channel
        batch.clean[flag] = batch.clean[flag] and value.is_clean


def _take_effect(batch: Batch, slot: Slot, condition: Mask, gate: Mask | None) -> None:
    """What a PRED_SET or KILL does besides its result."""
    effective = np.ones(batch.size, bool) if gate is None else gate
    if slot.operation.kills:
        batch.live &= ~(effective & condition)
        return
    if slot.updates_predicate:
        # The gate may follow from the predicate that is about to change, but is an array of its own then.
        np.copyto(batch.predicate, condition, where=effective)
    if slot.updates_execute_mask:
        off = effective & batch.branch & ~condition
        batch.cleared |= off
        batch.branch &= ~off
        batch.update_active()
