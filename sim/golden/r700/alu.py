"""Executes ALU groups: all operands are read before any result is written."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.alu import PredicateSelect
from ctm.rtl.isa.r700.operations import Operation, Result
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r700.formulas import INDICES, PREDICATES, REDUCTIONS, VALUES, modify
from ctm.sim.golden.r700.instruction import Group, Run, Slot
from ctm.sim.golden.r700.operands import Value, index, operand, operands_of, temporary_index
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch, whole_quads


class _Outcome(NamedTuple):
    """What a run computes."""

    value: Value
    """The result, [slots, n] or what broadcasts to it."""
    condition: Mask | None = None
    """Of a PRED_SET or KILL."""
    address: Integers | None = None
    """What AR takes."""


def execute(batch: Batch, program: Program, group: Group, *, whole: bool) -> None:
    """Execute a group for the active pixels, with `whole` for all of their quads.

    Raises
    ------
    BusError
        A constant got an error response; nothing was changed.
    """
    executing = whole_quads(batch.active) if whole else batch.active
    everywhere = bool(executing.all())
    outcomes = [_compute(batch, program, run, executing) for run in group.runs]
    gates = [[_gate(batch, slot, executing, everywhere) for slot in _gated(run)] for run in group.runs]
    for run, outcome, (gate, *others) in zip(group.runs, outcomes, gates, strict=True):
        slots, first = run.slots, run.slots[0]
        words, is_clean = outcome.value
        positions = slice(first.position, first.position + len(slots))
        _store(batch.previous[positions], words, None if everywhere else executing)
        kept_clean = everywhere or all(batch.previous_clean[positions])
        batch.previous_clean[positions] = [is_clean and kept_clean] * len(slots)
        if first.operation.is_reduction:
            for row, slot, each in zip(words, slots, (gate, *others), strict=True):
                _write(batch, program, [slot], Value(row, is_clean), each)
        else:
            _write(batch, program, slots, outcome.value, gate)
        if outcome.address is not None:
            _store(batch.address[first.channel], outcome.address, gate)
        if outcome.condition is not None:
            _take_effect(batch, first, outcome.condition, gate)


def _gated(run: Run) -> Sequence[Slot]:
    """The slots of a run that may have predicates of their own."""
    return run.slots if run.slots[0].operation.is_reduction else run.slots[:1]


def _compute(batch: Batch, program: Program, run: Run, executing: Mask) -> _Outcome:
    slot = run.slots[0]
    operation = slot.operation
    if operation.is_reduction:
        return _reduce(batch, program, run, executing)
    values = [operands_of(batch, program, form, column, executing) for form, column in run.operands]
    words = [value.words for value in values]
    clean = all(value.is_clean for value in values)
    if operation.sets_predicate or operation.kills:
        result, condition = PREDICATES[operation.name](*words, clean=clean)
        return _Outcome(_modified(program, slot, Value(result, False)), condition)
    result = VALUES[operation.name](*words, clean=clean)
    address = INDICES[operation.name](words[0]) if operation.sets_address else None
    return _Outcome(_modified(program, slot, Value(result, _is_clean(operation, clean))), address=address)


def _is_clean(operation: Operation, clean: bool) -> bool:
    """Whether a result holds no denormal: arithmetic gives none, and neither 0 nor all ones is one."""
    return clean if operation.copies_bits else operation.result is not Result.INTEGER


def _reduce(batch: Batch, program: Program, run: Run, executing: Mask) -> _Outcome:
    """Every slot's result is modified by its own modifiers."""
    operation = run.slots[0].operation
    sides = [[operand(batch, program, each, executing) for each in column] for _, column in run.operands]
    clean = all(value.is_clean for side in sides for value in side)
    results = REDUCTIONS[operation.name](*([value.words for value in side] for side in sides), clean=clean)
    is_clean = _is_clean(operation, clean)
    modified = [
        _modified(program, slot, Value(result, is_clean)) for slot, result in zip(run.slots, results, strict=True)
    ]
    words = np.stack([np.broadcast_to(value.words, batch.size) for value in modified])
    return _Outcome(Value(words, all(value.is_clean for value in modified)))


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


def _write(batch: Batch, program: Program, slots: Sequence[Slot], value: Value, gate: Mask | None) -> None:
    """Write the results of slots that write neighbouring channels of one register."""
    first = slots[0]
    if not first.writes:
        return
    if first.index is not None:
        _write_relative(batch, program, first, value, gate)
        return
    at = temporary_index(program, first.register)
    if at is None:
        return
    channels = slice(first.channel, first.channel + len(slots))
    _store(batch.temporaries[at, channels], value.words, gate)
    flags = slice(CHANNELS * at + channels.start, CHANNELS * at + channels.stop)
    kept = [True] * len(slots) if gate is None else batch.clean[flags]
    batch.clean[flags] = [value.is_clean and was for was in kept]


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
        batch.valid_mask &= ~(effective & condition)
        return
    if slot.updates_predicate:
        # The gate may follow from the predicate that is about to change, but is an array of its own then.
        np.copyto(batch.predicate, condition, where=effective)
    if slot.updates_execute_mask:
        off = effective & batch.branch_mask & ~condition
        batch.cleared |= off
        batch.branch_mask &= ~off
        batch.update_active()
