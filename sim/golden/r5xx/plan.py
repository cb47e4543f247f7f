"""What an ALU or OUTPUT instruction has to compute, worked out once for a program.

Only channels whose result goes somewhere are computed. Where the RGB and the alpha unit do the same, their channels are
computed together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, InputModifier, OutputModifier, RgbOperation
from ctm.rtl.isa.r5xx.operations import OPERATIONS, RGB_DOT_PRODUCTS
from ctm.sim.golden import fp
from ctm.sim.golden.r5xx.instruction import ALPHA, Address, Alu, Bank, Row, Unit

Floats = npt.NDArray[np.float32]

A, B, C = range(3)

DERIVATIVES = tuple(operation.name for operation in OPERATIONS if operation.is_derivative)
_DOT_TERMS = {operation.name: (operation.products, operation.addends) for operation in OPERATIONS if operation.is_dot}
"""Channels of the products, and of the addend."""
_OPERAND_COUNTS = {operation.name: len(operation.reads) for operation in OPERATIONS}
"""Of those that are neither derivatives nor dot products: operands from A on."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """An operand of some channels: rows, and what does not depend on registers."""

    rows: tuple[Row, ...]
    addresses: tuple[Address | None, ...]
    """Where each row's source is; None for a literal or srcp."""
    slice_of: Address | None
    """The temporary of which the rows are neighbouring channels, unmodified; None where they are not."""
    fixed: Floats | None
    """The value, [rows, 1], where literals and inline constants give it."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Channels that are computed together.

    `readings` are the operands of what is computed; where all channels get the same, that is one row. With
    `fourth_from_quad` a dot product's fourth A is that of the quad's lane 0.
    """

    channels: tuple[int, ...]
    operation: str
    modifier: OutputModifier
    clamp: bool
    readings: tuple[Reading, ...]
    fourth_from_quad: bool = False


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
        operation = instruction.rgb.operation.name
    elif unit.operation is RgbOperation.SOP:
        operation, sources = instruction.alpha.operation.name, (ALPHA,)
    readings = _readings(instruction, operation, sources)
    from_quad = operation == "DP4" and _takes_from_quad(instruction.alpha)
    return Block(channels, operation, unit.modifier, unit.clamp, readings, from_quad)


def _takes_from_quad(unit: Unit) -> bool:
    return unit.operation.name in DERIVATIVES


def _readings(instruction: Alu, operation: str, channels: Sequence[int]) -> tuple[Reading, ...]:
    def operand(position: int, of_channels: Sequence[int]) -> Reading:
        return _reading(instruction, [instruction.operands[channel][position] for channel in of_channels])

    def source0(position: int) -> Reading:
        """src0 whatever is selected, with the operand's modifier."""
        modifiers = [instruction.operands[channel][position].modifier for channel in channels]
        return _reading(instruction, [Row(m, channel, 0) for m, channel in zip(modifiers, channels, strict=True)])

    if operation in DERIVATIVES:
        return source0(A), operand(B, channels), source0(C)
    if operation in _DOT_TERMS:
        terms, addend = _DOT_TERMS[operation]
        rows = [instruction.operands[channel][A] for channel in terms]
        if ALPHA in terms and _takes_from_quad(instruction.alpha):
            rows[ALPHA] = Row(rows[ALPHA].modifier, ALPHA, 0)
        return _reading(instruction, rows), operand(B, terms), *([operand(C, addend)] if addend else [])
    return tuple(operand(position, channels) for position in range(_OPERAND_COUNTS[operation]))


def _reading(instruction: Alu, rows: Sequence[Row]) -> Reading:
    addresses = tuple(
        instruction.unit(row.channel).addresses[row.source] if row.literal is None and row.source is not None else None
        for row in rows
    )
    first, address = rows[0], addresses[0]
    is_slice = address is not None and address.bank is Bank.TEMPORARY
    for index, (row, other) in enumerate(zip(rows, addresses, strict=True)):
        is_neighbour = row.channel == first.channel + index and row.modifier is InputModifier.OFF
        is_slice = is_slice and is_neighbour and other == address
    return Reading(tuple(rows), addresses, address if is_slice else None, _fixed(rows, addresses))


def _fixed(rows: Sequence[Row], addresses: Sequence[Address | None]) -> Floats | None:
    values = []
    for row, address in zip(rows, addresses, strict=True):
        if row.literal is not None:
            values.append(row.literal)
        elif address is not None and address.bank is Bank.INLINE:
            values.append(address.value)
        else:
            return None
    return modified(np.array(values, np.float32)[:, None], rows)


def modified(values: Floats, rows: Sequence[Row]) -> Floats:
    """`values` [rows, n] with each row's input modifier; the array may be overwritten."""
    modifiers = [row.modifier for row in rows]
    if all(modifier is modifiers[0] for modifier in modifiers):
        return fp.input_modifier(values, modifiers[0].value)
    for index, modifier in enumerate(modifiers):
        values[index] = fp.input_modifier(values[index], modifier.value)
    return values
