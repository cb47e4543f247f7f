"""Writes the phrases of statements as text, in the form that the parser reads."""

from collections.abc import Sequence

from ctm.rtl.isa.r5xx.opcodes import OutputModifier, PredicateSelect, Presubtract
from ctm.sim.assembler.r5xx.encoder.encoder import Given
from ctm.sim.assembler.r5xx.encoder.sources import UNUSED
from ctm.sim.assembler.r5xx.parser.halves import EMPTY_MASK, MODIFIERS, PREDICATES, TESTS
from ctm.sim.assembler.r5xx.syntax import (
    CHANNELS,
    Destination,
    Half,
    Operand,
    Predicate,
    Presubtraction,
    Slot,
    Target,
    Unit,
)

_TEST_TEXT = {test: f"[{text}0]" for text, test in TESTS.items()}
_MODIFIER_TEXT = {
    OutputModifier.U1: "",
    OutputModifier.DISABLED: " exact",
    **{modifier: f" {sign} {factor}" for (sign, factor), modifier in MODIFIERS.items()},
}
_PREDICATE_TEXT = {select: "p" if channel is None else f"p.{channel}" for channel, select in PREDICATES.items()}
_CONSTANT_TEXT = {"0": "0", "h": "0.5", "1": "1"}
_UNIT_CHANNELS = {Unit.RGB: "rgb", Unit.ALPHA: "a", Unit.JOINT: CHANNELS}
_SLOT_TEXT = ("src0", "src1", "src2", "srcp")


def half_text(half: Half) -> str:
    """A half, with its unit in front where the destinations do not tell it."""
    channels = _UNIT_CHANNELS[half.unit]
    words = []
    if not any(_tells_unit(destination, half.unit) for destination in half.destinations):
        words.append(f"{half.unit.value}: ")
    if half.predicate != Predicate():
        words.append(f"({predicate_text(half.predicate)}) ")
    if half.destinations:
        words.append(", ".join(_destination_text(destination, half.unit) for destination in half.destinations))
        words.append(" = ")
    operation, operands, modifier = _short_form(half)
    words.append(f"{operation}({', '.join(operand_text(operand, channels) for operand in operands)})")
    words.append(_MODIFIER_TEXT[modifier])
    words.append(" clamp" if half.clamp else "")
    return "".join(words)


def _tells_unit(destination: Destination, unit: Unit) -> bool:
    """Whether a destination is enough to know the unit from."""
    return bool(destination.mask) if destination.mask is not None else unit is Unit.JOINT


def _short_form(half: Half) -> tuple[str, Sequence[Operand], OutputModifier]:
    """MOV, ADD and MUL where they mean the same."""
    operands = half.operands
    if half.operation == "MAX" and operands[0] == operands[1] and half.modifier is OutputModifier.DISABLED:
        return "MOV", operands[:1], OutputModifier.U1
    if half.operation == "MAD":
        if _is_constant(operands[2], "0"):
            return "MUL", operands[:2], half.modifier
        if _is_constant(operands[1], "1"):
            return "ADD", (operands[0], operands[2]), half.modifier
    return half.operation, operands, half.modifier


def _is_constant(operand: Operand, letter: str) -> bool:
    plain = not operand.negative and not operand.absolute
    return plain and operand.source is None and set(operand.swizzle or "") == {letter}


def predicate_text(predicate: Predicate) -> str:
    """A predicate without its parentheses."""
    if predicate.select is PredicateSelect.NONE:
        return "never" if predicate.inverted else "always"
    return f"{'!' if predicate.inverted else ''}{_PREDICATE_TEXT[predicate.select]}"


def _destination_text(destination: Destination, unit: Unit) -> str:
    mask = mask_text(destination.mask, unit is Unit.JOINT)
    if destination.target is Target.TEMPORARY:
        return f"r{destination.index}{'[aL]' if destination.relative else ''}{mask}"
    if destination.target is Target.OUTPUT:
        return f"o{destination.index}{mask}"
    if destination.target is Target.PREDICATE:
        return f"p{mask}{_TEST_TEXT[destination.test]}"
    if destination.target is Target.ALU_RESULT:
        return f"alu_result{mask}{_TEST_TEXT[destination.test]}"
    return "w" if destination.target is Target.CONDITIONAL else f"umrt[{destination.umrt.name}]"


def mask_text(mask: str | None, may_be_full: bool) -> str:
    """A write mask with its point; a full one is not written where everything is the default."""
    if mask is None or may_be_full and mask == CHANNELS:
        return ""
    return f".{mask or EMPTY_MASK}"


def operand_text(operand: Operand, channels: str) -> str:
    """An operand that is read through the letters of `channels` by default; swizzles of four letters are DP4's."""
    letters = operand.swizzle or channels
    swizzle = "" if letters in (channels, CHANNELS) else f".{letters[0] if len(set(letters)) == 1 else letters}"
    source = operand.source
    if source is None:
        text = _CONSTANT_TEXT[letters[0]] if len(set(letters)) == 1 else swizzle
    elif isinstance(source, Slot):
        text = f"{_SLOT_TEXT[source.index]}{swizzle}"
    elif isinstance(source, Presubtraction):
        text = f"{_presubtraction_text(source)}{swizzle}"
    else:
        text = f"{source}{_explicit(str(source), swizzle, letters)}"
    text = f"|{text}|" if operand.absolute else text
    return f"-{text}" if operand.negative else text


def _explicit(source: str, swizzle: str, letters: str) -> str:
    """The swizzle of a register; an inline constant that a swizzle alone could give always has one."""
    return f".{letters}" if source in ("0.0", "0.5", "1.0") else swizzle


def _presubtraction_text(source: Presubtraction) -> str:
    registers = [str(register) for register in source.sources]
    if source.operation is Presubtract.BIAS:
        return f"(1 - 2*{registers[0]})"
    if source.operation is Presubtract.INV:
        return f"(1 - {registers[0]})"
    return f"({registers[1]} {'-' if source.operation is Presubtract.SUB else '+'} {registers[0]})"


def sources_text(name: str, given: Given) -> str:
    """`rgb_src(...)` or `alpha_src(...)`; unused sources at the end are left out."""
    registers = list(given.registers)
    while registers and registers[-1] == UNUSED:
        registers.pop()
    words = [str(register) for register in registers]
    if given.presubtract not in (None, Presubtract.BIAS):
        words.append(given.presubtract.name)
    return f"{name}({', '.join(words)})"
