"""Forms of instructions: the words of each with their fields by name; and an instruction while it is put together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from amaranth.lib import data

from ctm.rtl.isa.r700 import alu, control_flow, exports, fetch
from ctm.rtl.isa.r700.fetch import MemoryOperation, TextureOperation, VertexOperation
from ctm.rtl.isa.word import fields, unpack

_OPERAND = re.compile(r"src\d_sel")
"""The field of an ALU word that says what an operand is."""


@dataclass(frozen=True, eq=False)
class Form:
    """A form of instruction: the layouts of its words, word 0 first.

    `fields` gives each field's word, offset and width. A field that several words have is named `wordN.field`.
    """

    name: str
    layouts: tuple[data.StructLayout, ...]
    fields: Mapping[str, tuple[int, int, int]] = field(init=False)

    def __post_init__(self) -> None:
        found = [
            (name, word, offset, width)
            for word, layout in enumerate(self.layouts)
            for name, offset, width in fields(layout)
        ]
        names = [name for name, *_ in found]
        located = {
            name if names.count(name) == 1 else f"word{word}.{name}": (word, offset, width)
            for name, word, offset, width in found
        }
        object.__setattr__(self, "fields", located)

    @property
    def operands(self) -> int:
        """How many operands an ALU instruction of this form can have."""
        return sum(bool(_OPERAND.fullmatch(name)) for name in self.fields)

    def limit(self, name: str) -> int:
        """The first number that is too large for a field."""
        return 1 << self.fields[name][2]


CONTROL = Form("control flow", (control_flow.CF_DWORD0, control_flow.CF_DWORD1))
CLAUSE = Form("ALU clause", (control_flow.CF_ALU_DWORD0, control_flow.CF_ALU_DWORD1))
SWIZZLED = Form("export", (exports.EXPORT_DWORD0, exports.EXPORT_DWORD1_SWIZ))
BUFFER = Form("memory write", (exports.EXPORT_DWORD0, exports.EXPORT_DWORD1_BUF))
OP2 = Form("ALU instruction", (alu.ALU_DWORD0, alu.ALU_DWORD1_OP2))
OP3 = Form("ALU instruction of three operands", (alu.ALU_DWORD0, alu.ALU_DWORD1_OP3))
TEXTURE = Form("texture fetch", fetch.TEXTURE)
VERTEX = Form("vertex fetch", fetch.VERTEX)
MEMORY_READ = Form("memory read", fetch.MEMORY_READ)
SHARE_WRITE = Form("write to the data share", fetch.SHARE_WRITE)
SHARE_READ = Form("read of the data share", fetch.SHARE_READ)

CONTROL_FORMS = (CONTROL, CLAUSE, SWIZZLED, BUFFER)
ALU_FORMS = (OP2, OP3)

_SWIZZLED_CODES = tuple(operation.value for operation in exports.SWIZZLED)
_VERTEX_CODES = (VertexOperation.FETCH.value, VertexOperation.SEMANTIC.value)
_SHARE = {
    MemoryOperation.LOCAL_DS_WRITE.value: SHARE_WRITE,
    MemoryOperation.GLOBAL_DS_WRITE.value: SHARE_WRITE,
    MemoryOperation.LOCAL_DS_READ.value: SHARE_READ,
    MemoryOperation.GLOBAL_DS_READ.value: SHARE_READ,
}


class Draft:
    """The words of one instruction of a form, which are written field by field."""

    def __init__(self, form: Form, words: Sequence[int] | None = None) -> None:
        self.form = form
        self.words = list(words or [0] * len(form.layouts))

    def set(self, name: str, value: int) -> None:
        """Write a field; a value that does not fit raises ValueError."""
        word, offset, width = self.form.fields[name]
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name} must be 0..{(1 << width) - 1}, not {value}")
        mask = (1 << width) - 1 << offset
        self.words[word] = self.words[word] & ~mask | value << offset

    def write(self, **values: int) -> None:
        """Write several fields."""
        for name, value in values.items():
            self.set(name, value)

    def get(self, name: str) -> int:
        """A field."""
        word, offset, width = self.form.fields[name]
        return self.words[word] >> offset & (1 << width) - 1

    def differences(self, wanted: Draft) -> dict[str, int]:
        """The fields in which another draft of the same form differs, as they are there."""
        if self.words == wanted.words:
            return {}
        return {name: wanted.get(name) for name in self.form.fields if self.get(name) != wanted.get(name)}


def control_draft(words: Sequence[int]) -> Draft:
    """A CF instruction."""
    kind = unpack(control_flow.CF_FORM, words[1])
    if kind["is_alu"]:
        return Draft(CLAUSE, words)
    if not kind["is_export"]:
        return Draft(CONTROL, words)
    code = unpack(exports.EXPORT_DWORD1_BUF, words[1])["cf_inst"]
    return Draft(SWIZZLED if code in _SWIZZLED_CODES else BUFFER, words)


def alu_draft(words: Sequence[int]) -> Draft:
    """A word of an ALU clause that is no literal."""
    return Draft(OP3 if unpack(alu.ENCODING, words[1])["op3"] else OP2, words)


def fetch_draft(words: Sequence[int], *, texture: bool) -> Draft:
    """An instruction of a fetch clause; `texture` says whether it is a TEX clause."""
    kind = unpack(fetch.FETCH, words[0])
    if kind["inst"] == TextureOperation.MEM.value:
        return Draft(_SHARE.get(kind["mem_op"], MEMORY_READ), words)
    is_vertex = not texture or kind["inst"] in _VERTEX_CODES
    return Draft(VERTEX if is_vertex else TEXTURE, words)
