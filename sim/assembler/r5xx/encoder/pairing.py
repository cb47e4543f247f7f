"""Converts the halves that were written to the fields of each unit.

A joint half splits into two; some single halves imply the other one. CTM Guide pp. 26-28.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, OutputModifier, RgbOperation
from ctm.rtl.isa.r5xx.operations import (
    ALPHA,
    ALPHA_BIT_COPIES,
    RGB,
    RGB_BIT_COPIES,
    RGB_DOT_PRODUCTS,
    TRANSCENDENTALS,
    Arithmetic,
)
from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.r5xx.syntax import Bank, Half, Operand, Register, Source, Unit


def _arity(operation: Arithmetic) -> tuple[int, ...]:
    return (2, 3) if operation.is_derivative else (len(operation.reads),)


ARITY: Mapping[RgbOperation | AlphaOperation, tuple[int, ...]] = {
    **{code: _arity(operation) for code, operation in RGB.items()},
    **{code: _arity(operation) for code, operation in ALPHA.items()},
    AlphaOperation.DP: (0, 2),
}
"""How many operands an operation takes. MDH and MDV have A and C from one source, so C may be left out."""

_DOT_PRODUCTS = {operation.name for operation in RGB_DOT_PRODUCTS}
_SCALAR = {operation.name for operation in TRANSCENDENTALS}
_ZERO, _ONE = Operand(source=None, swizzle="0"), Operand(source=None, swizzle="1")
_LETTERS = {Unit.RGB: "rgb", Unit.ALPHA: "a"}


@dataclass(frozen=True)
class UnitOperand:
    """An operand of one unit: a letter per channel, three for RGB, one for alpha, four for DP4."""

    source: Source
    letters: str
    negative: bool
    absolute: bool
    position: Position = field(compare=False)


@dataclass(frozen=True)
class UnitHalf:
    """What one unit does."""

    operation: RgbOperation | AlphaOperation
    operands: tuple[UnitOperand, ...]
    half: Half


Pair = tuple[UnitHalf | None, UnitHalf | None]


def pair(halves: Sequence[Half]) -> Pair:
    """The RGB and the alpha half, None where nothing was written or implied.

    Raises
    ------
    SourceError
        Two halves of one unit, an unknown operation, a wrong number of operands or letters, an operation whose partner
        is missing.
    """
    written: dict[Unit, Half] = {}
    for half in halves:
        for unit in (Unit.RGB, Unit.ALPHA) if half.unit is Unit.JOINT else (half.unit,):
            if unit in written:
                raise SourceError(f"a second half for the {unit.value} unit", half.position)
            written[unit] = half
    for half in halves:
        written |= _implied(half, written)
    rgb, alpha = written.get(Unit.RGB), written.get(Unit.ALPHA)
    found = (
        _unit_half(_expand(rgb), Unit.RGB) if rgb is not None else None,
        _unit_half(_expand(alpha), Unit.ALPHA) if alpha is not None else None,
    )
    _check(*found)
    return found


def _implied(half: Half, written: Mapping[Unit, Half]) -> dict[Unit, Half]:
    """The other half of one that names an operation of the other unit: it only computes."""
    other: Unit | None = None
    operation, operands = half.operation, half.operands
    if half.unit is Unit.RGB and operation in _SCALAR:
        other = Unit.ALPHA
    elif half.unit is Unit.RGB and operation == RgbOperation.DP4.name:
        other, operation, operands = Unit.ALPHA, AlphaOperation.DP.name, ()
    elif half.unit is Unit.ALPHA and operation in _DOT_PRODUCTS:
        other = Unit.RGB
    if other is None or other in written:
        return {}
    return {other: Half(unit=Unit.JOINT, operation=operation, operands=operands, position=half.position)}


def _expand(half: Half) -> Half:
    """MOV, ADD and MUL are forms of MAX and MAD."""
    operands = half.operands
    forms = {
        "MOV": (1, "MAX", (*operands, *operands)),
        "ADD": (2, "MAD", (*operands[:1], _ONE, *operands[1:])),
        "MUL": (2, "MAD", (*operands, _ZERO)),
    }
    if half.operation not in forms:
        return half
    arity, operation, expanded = forms[half.operation]
    _check_arity(half, (arity,))
    bits = half.operation == "MOV" and half.modifier is OutputModifier.U1 and not half.clamp
    return replace(
        half,
        operation=operation,
        operands=expanded,
        modifier=OutputModifier.DISABLED if bits else half.modifier,
    )


def _check_arity(half: Half, arity: tuple[int, ...]) -> None:
    if len(half.operands) not in arity:
        wanted = " or ".join(str(count) for count in arity)
        raise SourceError(f"{half.operation} takes {wanted} operands, not {len(half.operands)}", half.position)


def _unit_half(half: Half, unit: Unit) -> UnitHalf:
    """The fields of a half that belong to a unit."""
    if half.operation not in RgbOperation.__members__ and half.operation not in AlphaOperation.__members__:
        raise SourceError(f"there is no operation {half.operation}", half.position)
    name = _unit_operation(half.operation, unit)
    codes: type[RgbOperation] | type[AlphaOperation] = RgbOperation if unit is Unit.RGB else AlphaOperation
    if name not in codes.__members__:
        raise SourceError(f"the {unit.value} unit has no operation {name}", half.position)
    operation = codes[name]
    if name != half.operation:
        return UnitHalf(operation, (), half)
    _check_arity(half, ARITY[operation])
    operands = (
        UnitOperand(
            operand.source,
            _letters(operand, half, unit, operation),
            operand.negative,
            operand.absolute,
            operand.position,
        )
        for operand in half.operands
    )
    return UnitHalf(operation, tuple(operands), half)


def _unit_operation(name: str, unit: Unit) -> str:
    """What a unit does while the other one computes `name` for it."""
    if unit is Unit.RGB and name in _SCALAR:
        return RgbOperation.SOP.name
    if unit is Unit.ALPHA and name in _DOT_PRODUCTS:
        return AlphaOperation.DP.name
    return name


def _letters(operand: Operand, half: Half, unit: Unit, operation: RgbOperation | AlphaOperation) -> str:
    """One letter per channel of the unit; for an operand of DP4 four, or three where the alpha half has the fourth."""
    swizzle, joint = operand.swizzle, half.unit is Unit.JOINT
    scalar = joint and half.operation in _SCALAR
    channels = "rgba" if operation is RgbOperation.DP4 else _LETTERS[unit]
    if swizzle is None:
        if scalar and not _is_same_everywhere(operand.source):
            raise SourceError(f"{half.operation} takes one channel: say which, as in r0.r", operand.position)
        return channels
    if len(swizzle) == 1:
        return swizzle * len(channels)
    if len(swizzle) == len(channels) or len(swizzle) == 3 and operation is RgbOperation.DP4:
        return swizzle
    if joint and len(swizzle) == 4 and not scalar:
        return swizzle[:3] if unit is Unit.RGB else swizzle[3]
    count = 4 if joint and not scalar and operation not in RGB_DOT_PRODUCTS else len(channels)
    wanted = "one letter" if count == 1 else f"one letter or {count}"
    raise SourceError(f"this swizzle needs {wanted}", operand.position)


def _is_same_everywhere(source: Source) -> bool:
    return source is None or isinstance(source, Register) and source.bank is Bank.INLINE


def _check(rgb: UnitHalf | None, alpha: UnitHalf | None) -> None:
    rgb_operation = rgb.operation if rgb else RgbOperation.MAD
    alpha_operation = alpha.operation if alpha else AlphaOperation.MAD
    for unit_half, copies in ((rgb, RGB_BIT_COPIES), (alpha, ALPHA_BIT_COPIES)):
        if unit_half is None:
            continue
        half = unit_half.half
        if unit_half.operation is RgbOperation.SOP and alpha_operation not in TRANSCENDENTALS:
            raise SourceError("SOP copies a transcendental operation of the alpha unit; there is none", half.position)
        if unit_half.operation is AlphaOperation.DP and rgb_operation not in RGB_DOT_PRODUCTS:
            raise SourceError("DP copies a dot product of the RGB unit; there is none", half.position)
        if half.modifier is OutputModifier.DISABLED:
            if unit_half.operation not in copies:
                raise SourceError("exact is for MIN, MAX, CND and CMP only", half.position)
            if half.clamp:
                raise SourceError("exact switches the clamp off", half.position)
