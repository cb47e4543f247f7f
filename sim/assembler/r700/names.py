"""Names of codes. A code without a name of its own has its number after the kind's: `OP2_127`, `CF_30`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum

from ctm.rtl.isa.r700.alu import IndexMode, Op2, Op3, OutputModifier, PredicateSelect, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation, Multiplex, TextureOperation, VertexOperation
from ctm.sim.assembler.r700.form import (
    BUFFER,
    CLAUSE,
    CONTROL,
    MEMORY_READ,
    OP2,
    OP3,
    SHARE_READ,
    SHARE_WRITE,
    SWIZZLED,
    TEXTURE,
    VERTEX,
    Draft,
    Form,
    alu_draft,
    control_draft,
    fetch_draft,
)

COMPONENTS = "xyzw"
SLOTS = "xyzwt"

Opcode = tuple[Form, int]
"""A form and the code that says which instruction of it."""


CODE_FIELDS = {
    OP2: "alu_inst",
    OP3: "alu_inst",
    CONTROL: "cf_inst",
    CLAUSE: "cf_inst",
    SWIZZLED: "cf_inst",
    BUFFER: "cf_inst",
    TEXTURE: "tex_inst",
    VERTEX: "vtx_inst",
    MEMORY_READ: "mem_op",
    SHARE_WRITE: "mem_op",
    SHARE_READ: "mem_op",
}
"""Which field holds a form's code."""


def upper(codes: type[Enum]) -> dict[int, str]:
    """The codes of an enum with their names."""
    return {member.value: name for name, member in codes.__members__.items()}


def _codes(form: Form, form_of: Callable[[Sequence[int]], Draft], **fields: int) -> Iterator[int]:
    """The codes with which words are of a form."""
    for code in range(form.limit(CODE_FIELDS[form])):
        draft = Draft(form)
        draft.write(**fields, **{CODE_FIELDS[form]: code})
        if form_of(draft.words).form is form:
            yield code


def _named(form: Form, codes: Iterable[int], names: type[Enum], prefix: str) -> dict[str, Opcode]:
    known = upper(names)
    return {known.get(code, f"{prefix}_{code}"): (form, code) for code in codes}


def _alu() -> dict[str, Opcode]:
    forms = ((OP2, Op2), (OP3, Op3))
    return {
        name: opcode
        for form, names in forms
        for name, opcode in _named(form, _codes(form, alu_draft), names, names.__name__.upper()).items()
    }


def _control() -> dict[str, Opcode]:
    forms = ((CONTROL, CfOperation, "CF"), (CLAUSE, AluClause, "CF_ALU"))
    exports = ((SWIZZLED, ExportOperation, "CF_EXPORT"), (BUFFER, ExportOperation, "CF_EXPORT"))
    return {
        name: opcode
        for form, names, prefix in (*forms, *exports)
        for name, opcode in _named(form, _codes(form, control_draft), names, prefix).items()
    }


def _fetch() -> dict[str, Opcode]:
    def texture(words: Sequence[int]) -> Draft:
        return fetch_draft(words, texture=True)

    def vertex(words: Sequence[int]) -> Draft:
        return fetch_draft(words, texture=False)

    found = _named(VERTEX, _codes(VERTEX, vertex), VertexOperation, "VTX")
    found |= _named(VERTEX, _codes(VERTEX, texture), TextureOperation, "TEX")
    found |= _named(TEXTURE, _codes(TEXTURE, texture), TextureOperation, "TEX")
    for form in (MEMORY_READ, SHARE_WRITE, SHARE_READ):
        codes = _codes(form, texture, mem_inst=TextureOperation.MEM.value)
        found |= _named(form, codes, MemoryOperation, "MEM")
    return found


def _lower(found: Mapping[str, Opcode]) -> dict[str, Opcode]:
    return {name.lower(): opcode for name, opcode in found.items()}


_ALU, _CONTROL, _FETCH = _alu(), _control(), _fetch()
ALU_CODES, CONTROL_CODES, FETCH_CODES = _lower(_ALU), _lower(_CONTROL), _lower(_FETCH)
"""Name in lower case -> opcode. FETCH is the same as VTX_FETCH, SEMANTIC as VTX_SEMANTIC."""
_BY_CODE = {opcode: name for names in (_ALU, _CONTROL, _FETCH) for name, opcode in reversed(names.items())}


def name_of(form: Form, code: int) -> str:
    """What an instruction is called."""
    return _BY_CODE[form, code]


def lower(codes: type[Enum]) -> dict[str, int]:
    """The names of an enum in lower case, with their codes."""
    return {name.lower(): member.value for name, member in codes.__members__.items()}


INDEX_NAMES = {
    IndexMode.AR_X.value: "AR.x",
    IndexMode.AR_Y.value: "AR.y",
    IndexMode.AR_Z.value: "AR.z",
    IndexMode.AR_W.value: "AR.w",
    IndexMode.LOOP.value: "aL",
    IndexMode.GLOBAL.value: IndexMode.GLOBAL.name,
    IndexMode.GLOBAL_AR_X.value: IndexMode.GLOBAL_AR_X.name,
}
OMOD_NAMES = {OutputModifier.MUL_2.value: "*2", OutputModifier.MUL_4.value: "*4", OutputModifier.DIV_2.value: "/2"}
PREDICATE_NAMES = {PredicateSelect.ZERO.value: "PRED_SEL_ZERO", PredicateSelect.ONE.value: "PRED_SEL_ONE"}
VECTOR_SWIZZLES = upper(VectorSwizzle)
TRANS_SWIZZLES = upper(TransSwizzle)
CONDITION_NAMES = upper(Condition)
FORMAT_NAMES = upper(FetchFormat)
MULTIPLEX_NAMES = upper(Multiplex)
SELECTS = "xyzw01?_"
"""Letters of component selects by code; `?` is reserved and has no letter in a text."""
