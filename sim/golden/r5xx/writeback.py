"""Where results go: temporaries, output registers, predicate bits, ALU result, conditional value.

Source: CTM Guide pp. 29-32. Predicates and the active mask gate every write; WRITE_INACTIVE lifts the active mask for
temporaries and predicate bits.
"""

import numpy as np

from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Mask
from ctm.sim.golden.r5xx.alu import Result
from ctm.sim.golden.r5xx.instruction import ALPHA, Alu, Common, Destination
from ctm.sim.golden.r5xx.operands import temporary
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch


def gate(batch: Batch, common: Common, channel: int, *, write_inactive: bool = False) -> Mask | None:
    """Lanes that may write `channel`; None means all. The mask may be the batch's own: it must not be changed."""
    predicate = common.predicate(channel)
    if predicate.is_never:
        return np.zeros(batch.size, bool)
    mask = None if write_inactive or batch.all_active else batch.active
    bit = predicate.bit(channel)
    if bit is None:
        return mask
    chosen: Mask = ~batch.predicates[bit] if predicate.inverted else batch.predicates[bit]
    return chosen if mask is None else mask & chosen


def store(target: Floats | Mask, values: Floats | Mask | bool, mask: Mask | None) -> None:
    """Assign `values` to `target` in the lanes of `mask`."""
    if mask is None:
        target[...] = values
    else:
        np.copyto(target, values, where=mask)


def write_temporary(batch: Batch, destination: Destination, channel: int, result: Result, mask: Mask | None) -> None:
    """Write one channel of a temporary; one that does not exist swallows the write."""
    number = temporary(batch, destination)
    if number < len(batch.clean):
        store(batch.temporaries[number, channel], result.values, mask)
        batch.clean[number] = batch.clean[number] and result.is_clean


def write_back(batch: Batch, program: Program, instruction: Alu, results: dict[int, Result]) -> None:
    """Write all results of an instruction, but for the output registers of an uncached write."""
    common = instruction.common
    free = {channel: gate(batch, common, channel, write_inactive=common.write_inactive) for channel in results}
    strict = {channel: gate(batch, common, channel) for channel in results} if common.write_inactive else free
    if not instruction.is_output and common.output_mask:
        # The gates may be views of the predicate bits that are about to change.
        free = {channel: mask if mask is None else mask.copy() for channel, mask in free.items()}
        strict = {channel: mask if mask is None else mask.copy() for channel, mask in strict.items()}
    for channel in common.write_mask:
        write_temporary(batch, instruction.unit(channel).destination, channel, results[channel], free[channel])
    for channel in common.output_mask:
        unit, values = instruction.unit(channel), results[channel].values
        if not instruction.is_output:
            store(batch.predicates[channel], fp.test_zero(values, unit.target), free[channel])
        elif not program.uncached_writes:
            register = program.outputs.index(unit.target)
            store(batch.outputs[register, channel], values, strict[channel])
            store(batch.written[register, channel], True, strict[channel])
    if instruction.alu_result is not None:
        channel, test = instruction.alu_result
        store(batch.alu_result, fp.test_zero(results[channel].values, ZeroTest(test).value), strict[channel])
    if instruction.writes_conditional and program.conditional_from_program:
        store(batch.conditional, results[ALPHA].values, strict[ALPHA])
