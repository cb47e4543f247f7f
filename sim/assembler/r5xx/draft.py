"""An instruction while it is put together: six words, written field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from amaranth.lib import data

from ctm.rtl.isa.r5xx.instruction import WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import fields

_ARITHMETIC = ("common", "rgb_addr", "alpha_addr", "rgb_inst", "alpha_inst", "rgba_inst")

WORD_NAMES: Mapping[InstructionType, tuple[str, ...]] = {
    InstructionType.ALU: _ARITHMETIC,
    InstructionType.OUTPUT: _ARITHMETIC,
    InstructionType.FC: ("common", "word1", "fc_inst", "fc_addr", "word4", "word5"),
    InstructionType.TEX: ("common", "tex_inst", "tex_addr", "tex_addr_dxdy", "word4", "word5"),
}
"""The names of an instruction's words in the assembler; a word that a type does not use has its number."""


_Fields = Mapping[str, tuple[int, int]]
"""Field -> offset and width, in bits."""
_LOCATIONS: Mapping[InstructionType, Mapping[str, tuple[int, _Fields]]] = {
    kind: {
        name: (index, {field: (offset, width) for field, offset, width in fields(WORDS[kind][index])})
        for index, name in enumerate(names)
    }
    for kind, names in WORD_NAMES.items()
}
"""Word -> its index and its fields, worked out once: drafts are read and written field by field."""


class Draft:
    """The words of one instruction. Its type is fixed."""

    def __init__(self, kind: InstructionType, words: Sequence[int] | None = None) -> None:
        self.kind = kind
        self.words = list(words or [0] * len(WORDS[kind]))
        self.set("common", type=kind.value)

    def set(self, word: str, **values: int) -> None:
        """Write fields of a word; a value that does not fit raises ValueError."""
        index, locations = _LOCATIONS[self.kind][word]
        for field, value in values.items():
            offset, width = locations[field]
            if not 0 <= value < 1 << width:
                raise ValueError(f"{field} must be 0..{(1 << width) - 1}, not {value}")
            mask = (1 << width) - 1 << offset
            self.words[index] = self.words[index] & ~mask | value << offset

    def get(self, word: str) -> dict[str, int]:
        """The fields of a word."""
        index, locations = _LOCATIONS[self.kind][word]
        return {field: self.words[index] >> offset & (1 << width) - 1 for field, (offset, width) in locations.items()}


def layouts(kind: InstructionType) -> Mapping[str, data.StructLayout]:
    """The words of a type by name."""
    return dict(zip(WORD_NAMES[kind], WORDS[kind], strict=True))


@cache
def field_names(kind: InstructionType) -> Mapping[str, tuple[str, str, int]]:
    """Every name that a field has in an override, in lower case: to (word, field, width).

    A field is named `word.field`, and `field` alone where no other word has one of this name. The type has no name: it
    is what the instruction begins with.
    """
    names: dict[str, tuple[str, str, int]] = {}
    count: dict[str, int] = {}
    for word, layout in layouts(kind).items():
        for field, _, width in fields(layout):
            if (word, field) != ("common", "type"):
                names[f"{word}.{field}"] = (word, field, width)
                count[field] = count.get(field, 0) + 1
    short = {location[1]: location for location in names.values() if count[location[1]] == 1}
    return {**names, **short}
