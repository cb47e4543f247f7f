"""ALU and OUTPUT instructions: the operations and the result path.

Source: CTM Guide pp. 28-32.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.limits import QUAD
from ctm.rtl.isa.r5xx.opcodes import OutputModifier
from ctm.rtl.isa.r5xx.operations import OPERATIONS
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats
from ctm.sim.golden.r5xx.instruction import ALPHA, Alu
from ctm.sim.golden.r5xx.operands import Operands
from ctm.sim.golden.r5xx.plan import Block
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch


@dataclass(frozen=True, slots=True)
class Result:
    """One channel's result after output modifier and clamp: float32 [n] or [1]."""

    values: Floats
    is_clean: bool


def execute(batch: Batch, program: Program, instruction: Alu, blocks: Sequence[Block]) -> dict[int, Result]:
    """Compute the results of every needed channel; nothing is written."""
    operands = Operands(batch, program.constants, instruction)
    results: dict[int, Result] = {}
    for block in blocks:
        values = _OPERATIONS[block.operation](operands, block, program.zero_times_anything)
        is_clean = True
        if block.modifier is OutputModifier.DISABLED:
            # The result is A or B.
            is_clean = operands.is_clean(block.readings[:2])
        else:
            if block.operation in _BIT_COPIES or block.modifier is not OutputModifier.U1:
                values = fp.output_modifier(values, block.modifier.value)
            if block.clamp:
                values = fp.clamp(values)
        for row, channel in enumerate(block.channels):
            results[channel] = Result(values[row % len(values)], is_clean)
    return results


_Operation = Callable[[Operands, Block, bool], Floats]


def _multiply_add(operands: Operands, block: Block, zero_times_anything: bool) -> Floats:
    a, b, c = (operands.gather(reading) for reading in block.readings)
    clean = operands.is_clean(block.readings)
    return fp.multiply_add(a, b, c, zero_times_anything=zero_times_anything, clean=clean)


def _dot(operands: Operands, block: Block, zero_times_anything: bool) -> Floats:
    a, b, *addend = (operands.gather(reading) for reading in block.readings)
    if block.fourth_from_quad:
        a = np.concatenate([a[:ALPHA], _of_lane(a[ALPHA:], 0)])
    a, b = np.broadcast_arrays(a, b)
    extra = addend[0][0] if addend else None
    clean = operands.is_clean(block.readings)
    return fp.dot(a, b, addend=extra, zero_times_anything=zero_times_anything, clean=clean)[None]


def _elementwise(function: Callable[..., Floats]) -> _Operation:
    def operation(operands: Operands, block: Block, _: bool) -> Floats:
        return function(*(operands.gather(reading) for reading in block.readings))

    return operation


def _derivative(neighbour: int) -> _Operation:
    """A*B + C with A = src0 of the quad's lane 0 and C = src0 of lane `neighbour`."""

    def operation(operands: Operands, block: Block, zero_times_anything: bool) -> Floats:
        a, b, c = (operands.gather(reading) for reading in block.readings)
        return fp.multiply_add(_of_lane(a, 0), b, _of_lane(c, neighbour), zero_times_anything=zero_times_anything)

    return operation


def _of_lane(values: Floats, lane: int) -> Floats:
    """One lane's value for all lanes of its quad."""
    return values if values.shape[1] == 1 else np.repeat(values[:, lane::QUAD], QUAD, axis=1)


_RIGHT, _ABOVE = 1, 2
"""Lanes (i+1, j) and (i, j+1) of a quad."""

_OPERATIONS: dict[str, _Operation] = {
    "MAD": _multiply_add,
    "DP3": _dot,
    "DP4": _dot,
    "D2A": _dot,
    "MIN": _elementwise(fp.minimum),
    "MAX": _elementwise(fp.maximum),
    "CND": _elementwise(fp.select_above_half),
    "CMP": _elementwise(fp.select_not_negative),
    "FRC": _elementwise(fp.fraction),
    "EX2": _elementwise(fp.ex2),
    "LN2": _elementwise(fp.ln2),
    "RCP": _elementwise(fp.rcp),
    "RSQ": _elementwise(fp.rsq),
    "SIN": _elementwise(fp.sin),
    "COS": _elementwise(fp.cos),
    "MDH": _derivative(_RIGHT),
    "MDV": _derivative(_ABOVE),
}
_BIT_COPIES = frozenset(operation.name for operation in OPERATIONS if operation.copies_bits)
