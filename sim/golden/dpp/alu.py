"""ALU and OUTPUT instructions: which channels to compute, the operations, the result path.

Source: CTM Guide pp. 28-32. Only channels whose result goes somewhere are computed. Where the RGB and the alpha unit do
the same, their channels are computed together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rtl.isa.opcodes import RGB_DOT_PRODUCTS, AlphaOperation, OutputModifier, RgbOperation
from sim.golden import fp
from sim.golden.dpp.batch import Batch, Floats
from sim.golden.dpp.instruction import ALPHA, Alu, Row, Unit
from sim.golden.dpp.operands import Operands
from sim.golden.dpp.program import Program

A, B, C = range(3)


@dataclass(frozen=True, slots=True)
class Result:
    """One channel's result behind output modifier and clamp: float32 [n] or [1]."""

    values: Floats
    is_clean: bool


@dataclass(frozen=True, slots=True)
class Block:
    """Channels that are computed together. `sources` is what is computed: one channel where all get the same."""

    channels: tuple[int, ...]
    sources: tuple[int, ...]
    operation: str
    modifier: OutputModifier
    clamp: bool


def plan(instruction: Alu) -> tuple[Block, ...]:
    """The blocks of an instruction; empty where no result goes anywhere."""
    common = instruction.common
    needed = {*common.write_mask, *common.output_mask}
    if instruction.alu_result is not None:
        needed.add(instruction.alu_result[0])
    if instruction.writes_conditional:
        needed.add(ALPHA)
    rgb_channels = tuple(sorted(needed - {ALPHA}))
    alpha_channels = (ALPHA,) if ALPHA in needed else ()
    if rgb_channels and alpha_channels and _may_share(instruction):
        return (_block(instruction.rgb, rgb_channels + alpha_channels, instruction),)
    blocks = []
    if rgb_channels:
        blocks.append(_block(instruction.rgb, rgb_channels, instruction))
    if alpha_channels:
        blocks.append(_block(instruction.alpha, alpha_channels, instruction))
    return tuple(blocks)


def _may_share(instruction: Alu) -> bool:
    rgb, alpha = instruction.rgb, instruction.alpha
    return (rgb.operation.name, rgb.modifier, rgb.clamp) == (alpha.operation.name, alpha.modifier, alpha.clamp)


def _block(unit: Unit, channels: tuple[int, ...], instruction: Alu) -> Block:
    operation, sources = unit.operation.name, channels
    if unit.operation is AlphaOperation.DP or unit.operation in RGB_DOT_PRODUCTS:
        operation, sources = instruction.rgb.operation.name, (0,)
    elif unit.operation is RgbOperation.SOP:
        operation, sources = instruction.alpha.operation.name, (ALPHA,)
    return Block(channels, sources, operation, unit.modifier, unit.clamp)


def execute(batch: Batch, program: Program, instruction: Alu, blocks: Sequence[Block]) -> dict[int, Result]:
    """Compute the results of every needed channel; nothing is written."""
    operands = Operands(batch, program.constants, instruction)
    results: dict[int, Result] = {}
    for block in blocks:
        values = _OPERATIONS[block.operation](operands, block.sources, program.zero_times_anything)
        is_copy = block.operation in _BIT_COPIES
        is_clean = True
        if block.modifier is OutputModifier.DISABLED:
            is_clean = operands.is_clean(block.sources, (A, B))
        else:
            if is_copy or block.modifier is not OutputModifier.U1:
                values = fp.output_modifier(values, block.modifier.value)
            if block.clamp:
                values = fp.clamp(values)
        for place, channel in enumerate(block.channels):
            results[channel] = Result(values[place % len(values)], is_clean)
    return results


def _multiply_add(operands: Operands, channels: Sequence[int], zero_times_anything: bool) -> Floats:
    return fp.multiply_add(
        *(operands.gather(channels, operand) for operand in (A, B, C)),
        zero_times_anything=zero_times_anything,
        clean=operands.is_clean(channels, (A, B, C)),
    )


def _dot(terms: Sequence[int], addend: int | None) -> Callable[[Operands, Sequence[int], bool], Floats]:
    def operation(operands: Operands, _: Sequence[int], zero_times_anything: bool) -> Floats:
        a, b = np.broadcast_arrays(operands.gather(terms, A), operands.gather(terms, B))
        extra = None if addend is None else operands.gather((addend,), C)[0]
        clean = operands.is_clean(terms, (A, B)) and (addend is None or operands.is_clean((addend,), (C,)))
        return fp.dot(a, b, addend=extra, zero_times_anything=zero_times_anything, clean=clean)[None]

    return operation


def _choose(function: Callable[..., Floats], count: int) -> Callable[[Operands, Sequence[int], bool], Floats]:
    def operation(operands: Operands, channels: Sequence[int], _: bool) -> Floats:
        return function(*(operands.gather(channels, operand) for operand in range(count)))

    return operation


def _of_a(function: Callable[..., Floats]) -> Callable[[Operands, Sequence[int], bool], Floats]:
    def operation(operands: Operands, channels: Sequence[int], _: bool) -> Floats:
        return function(operands.gather(channels, A))

    return operation


def _derivative(neighbour: int) -> Callable[[Operands, Sequence[int], bool], Floats]:
    """A*B + C with A = src0 of the quad's lane 0 and C = src0 of lane `neighbour`; input modifiers still apply."""

    def operation(operands: Operands, channels: Sequence[int], zero_times_anything: bool) -> Floats:
        return fp.multiply_add(
            operands.gather_quad(channels, A, 0),
            operands.gather(channels, B),
            operands.gather_quad(channels, C, neighbour),
            zero_times_anything=zero_times_anything,
        )

    return operation


_RIGHT, _ABOVE = 1, 2
"""Lanes (i+1, j) and (i, j+1) of a quad."""

_OPERATIONS: dict[str, Callable[[Operands, Sequence[int], bool], Floats]] = {
    "MAD": _multiply_add,
    "DP3": _dot((0, 1, 2), None),
    "DP4": _dot((0, 1, 2, 3), None),
    "D2A": _dot((0, 1), 2),
    "MIN": _choose(fp.minimum, 2),
    "MAX": _choose(fp.maximum, 2),
    "CND": _choose(fp.select_above_half, 3),
    "CMP": _choose(fp.select_not_negative, 3),
    "FRC": _of_a(fp.fraction),
    "EX2": _of_a(fp.ex2),
    "LN2": _of_a(fp.ln2),
    "RCP": _of_a(fp.rcp),
    "RSQ": _of_a(fp.rsq),
    "SIN": _of_a(fp.sin),
    "COS": _of_a(fp.cos),
    "MDH": _derivative(_RIGHT),
    "MDV": _derivative(_ABOVE),
}
_BIT_COPIES = frozenset({"MIN", "MAX", "CND", "CMP"})

_DOT_TERMS = {"DP3": ((0, 1, 2), ()), "DP4": ((0, 1, 2, 3), ()), "D2A": ((0, 1), (2,))}
_OPERAND_COUNTS = {"MAD": 3, "MIN": 2, "MAX": 2, "CND": 3, "CMP": 3, "MDH": 3, "MDV": 3}


def rows_read(instruction: Alu, blocks: Sequence[Block]) -> Iterator[Row]:
    """The operand rows that the results of `blocks` depend on."""
    for block in blocks:
        if block.operation in _DOT_TERMS:
            terms, addends = _DOT_TERMS[block.operation]
            yield from (instruction.operands[channel][operand] for channel in terms for operand in (A, B))
            yield from (instruction.operands[channel][C] for channel in addends)
        else:
            for channel in block.sources:
                yield from instruction.operands[channel][: _OPERAND_COUNTS.get(block.operation, 1)]


def is_derivative(block: Block) -> bool:
    """Whether a block reads src0 of other lanes of the quad."""
    return block.operation in ("MDH", "MDV")
