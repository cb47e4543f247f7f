"""What words can say and this machine does not do: a program would stop there."""

from collections.abc import Iterator

from ctm.rtl.isa.limits import INPUTS, OUTPUTS
from ctm.rtl.isa.r700 import control_flow, fetch
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, MEMORY_WRITES, SWIZZLED, ExportType
from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation, Multiplex, VertexOperation
from ctm.rtl.isa.r700.limits import KCACHE_SETS, LDS_ROW
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.sim.assembler.r700 import form
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.names import CODE_FIELDS, COMPONENTS, name_of
from ctm.sim.assembler.r700.parser.directives import Directives

_SUPPORTED = {
    form.CONTROL: {each.value for each in CfOperation if each not in control_flow.UNSUPPORTED},
    form.CLAUSE: {each.value for each in AluClause},
    form.SWIZZLED: {each.value for each in SWIZZLED},
    form.BUFFER: {each.value for each in MEMORY_WRITES},
    form.TEXTURE: {each.value for each in fetch.SUPPORTED},
    form.VERTEX: {VertexOperation.FETCH.value},
    form.MEMORY_READ: {MemoryOperation.RD_SCATTER.value, MemoryOperation.RD_SCRATCH.value},
    form.SHARE_WRITE: {MemoryOperation.LOCAL_DS_WRITE.value},
    form.SHARE_READ: {MemoryOperation.LOCAL_DS_READ.value},
}
_OPTIONS = {
    form.CLAUSE: {"alt_const": "ALT_CONST"},
    form.SWIZZLED: {"whole_quad_mode": "WHOLE_QUAD"},
    form.BUFFER: {"whole_quad_mode": "WHOLE_QUAD"},
    form.TEXTURE: {"alt_const": "ALT_CONST", "bc_frac_mode": "BC_FRAC_MODE"},
    form.VERTEX: {
        "alt_const": "ALT_CONST", "endian_swap": "ENDIAN_SWAP", "use_const_fields": "USE_CONST_FIELDS",
        "const_buf_no_stride": "NO_STRIDE",
    },
    form.MEMORY_READ: {"endian_swap": "ENDIAN_SWAP"},
}  # fmt: skip
"""Fields that must be 0, by the names that texts have for them."""
_FETCH_CLAUSES, _UNCONDITIONAL, _WITHOUT_INPUT = (
    {each.value for each in operations}
    for operations in (control_flow.FETCH_CLAUSES, control_flow.UNCONDITIONAL, fetch.WITHOUT_INPUT)
)
_FORMATS = {each.value for each in FetchFormat}
_VECTORS = {FetchFormat.INT32_4.value, FetchFormat.FLOAT32_4.value}
_MULTIPLEXES = {Multiplex.NONE.value, Multiplex.WORD_SELECT.value}
_WIDEST_GAP = 2
"""The element size, less one, that there is not."""


def problem(draft: Draft, directives: Directives) -> str:
    """Why the machine would stop at a CF word or a fetch, with the likely fix; "" if it would not.

    Flags of the program that are missing are not looked at.
    """
    name = name_of(draft.form, draft.get(CODE_FIELDS[draft.form]))
    if draft.get(CODE_FIELDS[draft.form]) not in _SUPPORTED[draft.form]:
        return f"the machine has no {name}"
    for field, option in _OPTIONS.get(draft.form, {}).items():
        if draft.get(field):
            return f"the machine does no {name} with {option}"
    found = _RULES[draft.form](draft, directives)
    return next((f"{name} {reason}" for reason in found), "")


def _control(draft: Draft, directives: Directives) -> Iterator[str]:
    code, whole = draft.get("cf_inst"), draft.get("whole_quad_mode")
    if code in _UNCONDITIONAL and draft.get("cond") != Condition.ACTIVE.value:
        yield "can have no COND: put a JUMP with it in front"
    if whole and code not in _FETCH_CLAUSES:
        yield "can have no WHOLE_QUAD: fetches can"
    if whole and draft.get("valid_pixel_mode"):
        yield "is of whole quads or of valid pixels, not of both"
    if code == CfOperation.CALL.value and draft.get("pop_count"):
        yield "can have no POP_CNT"


def _clause(draft: Draft, directives: Directives) -> Iterator[str]:
    if draft.get("cf_inst") == AluClause.ALU_PUSH_BEFORE.value and draft.get("whole_quad_mode"):
        yield "can have no WHOLE_QUAD"
    for number in range(KCACHE_SETS):
        mode = draft.get(f"kcache_mode{number}")
        if mode == KcacheMode.LOCK_LOOP_INDEX.value:
            yield "locks lines at aL, which the machine does not do: lock whole lines, as in CB0:16-47"
        if mode and draft.get(f"kcache_bank{number}"):
            yield "locks lines of another bank than CB0, the only one that there is"


def _export(draft: Draft, directives: Directives) -> Iterator[str]:
    first, burst = draft.get("array_base"), draft.get("burst_count") + 1
    last = first + burst - 1
    if draft.get("type") != ExportType.PIXEL.value:
        yield "goes to PIX0 to PIX3 or DEPTH: there is nothing behind the program that takes other exports"
    if burst > 1 if first == COMPUTED_DEPTH else last >= OUTPUTS:
        yield f"goes to target {last}: there are PIX0 to PIX{OUTPUTS - 1}, and DEPTH for one register"
    if directives.flag("memory") and first == MEMORY_OUTPUT:
        yield "goes to output 0, which MEM_EXPORT writes in a program with .memory: export to PIX1"
    if directives.flag("scratch") and first <= SCRATCH_OUTPUT <= last:
        yield "goes to output 3, which is the scratch in a program with .scratch"


def _element(draft: Draft) -> Iterator[str]:
    if draft.get("elem_size") == _WIDEST_GAP:
        yield "has elements of 1, 2 or 4 dwords, not of 3"


def _memory_write(draft: Draft, directives: Directives) -> Iterator[str]:
    yield from _element(draft)


def _texture(draft: Draft, directives: Directives) -> Iterator[str]:
    if draft.get("tex_inst") not in _WITHOUT_INPUT:
        yield from _input("t", draft.get("resource_id"), directives)


def _vertex(draft: Draft, directives: Directives) -> Iterator[str]:
    if draft.get("buffer_id"):
        yield from _input("b", draft.get("buffer_id"), directives, "; b0 is the constants")
        if draft.get("offset"):
            yield "can have an OFFSET in b0, the constants, only"
        return
    if draft.get("offset") % 4:
        yield "has an OFFSET that is no multiple of 4 bytes"
    if draft.get("data_format") not in _FORMATS:
        yield "has a FORMAT that the machine has not"


def _input(letter: str, resource: int, directives: Directives, rest: str = "") -> Iterator[str]:
    base = directives.numbers.get("texture_base", 0)
    if not base <= resource < base + INPUTS:
        inputs = f"{letter}{base} to {letter}{base + INPUTS - 1}"
        yield f"reads {letter}{resource}, which is no input: with .texture_base {base} these are {inputs}{rest}"


def _memory_read(draft: Draft, directives: Directives) -> Iterator[str]:
    yield from _element(draft)
    if draft.get("data_format") not in _VECTORS:
        yield "has FORMAT(INT32_4) or FORMAT(FLOAT32_4), whatever it reads"


def _share_write(draft: Draft, directives: Directives) -> Iterator[str]:
    if not draft.get("simd_wave_rel"):
        yield "without WAVE_REL is for thread groups of several wavefronts, which the machine has not"
    if draft.get("dst_index") % LDS_ROW or draft.get("dst_stride") % LDS_ROW:
        yield f"has an INDEX or a STRIDE that is no multiple of {LDS_ROW}"


def _share_read(draft: Draft, directives: Directives) -> Iterator[str]:
    if max(draft.get("src_sel_x"), draft.get("src_sel_y")) >= len(COMPONENTS):
        yield "takes bank and dword from components, not from constants"
    if draft.get("mux_cntl") not in _MULTIPLEXES:
        yield "has MUX(NONE) or MUX(WORD_SELECT)"


_RULES = {
    form.CONTROL: _control,
    form.CLAUSE: _clause,
    form.SWIZZLED: _export,
    form.BUFFER: _memory_write,
    form.TEXTURE: _texture,
    form.VERTEX: _vertex,
    form.MEMORY_READ: _memory_read,
    form.SHARE_WRITE: _share_write,
    form.SHARE_READ: _share_read,
}
