"""Where the fields of an operand are: operands a and b in their unit's word, both units' c in one word."""

from typing import NamedTuple

from ctm.sim.assembler.r5xx.syntax import Unit

_COLORS = ("red", "green", "blue")


class OperandFields(NamedTuple):
    """Word and field names of an operand; `swizzles` has three names for RGB and one for alpha."""

    word: str
    select: str
    swizzles: tuple[str, ...]
    modifier: str


def operand_fields(unit: Unit, name: str) -> OperandFields:
    """The fields of operand a, b or c of a unit."""
    word, prefix = ("rgba_inst", f"{unit.value}_") if name == "c" else (f"{unit.value}_inst", "")
    if unit is Unit.RGB:
        swizzles = tuple(f"{color}_swiz_{name}" for color in _COLORS)
    else:
        swizzles = (f"{prefix}swiz_{name}",)
    return OperandFields(word, f"{prefix}sel_{name}", swizzles, f"{prefix}mod_{name}")
