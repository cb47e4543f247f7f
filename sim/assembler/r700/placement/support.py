"""What words can say and this machine does not do: a program would stop there."""

from collections.abc import Iterator

from ctm.rtl.isa.draws import DRAW_OUTPUTS, VERTEX_BUFFERS
from ctm.rtl.isa.limits import INPUTS, OUTPUTS
from ctm.rtl.isa.r700 import control_flow, fetch
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.exports import (
    COMPUTED_DEPTH,
    FIRST_POSITION,
    MEMORY_WRITES,
    PARAMETERS,
    POSITIONS,
    STREAM_WRITES,
    SWIZZLED,
    ExportOperation,
    ExportType,
)
from ctm.rtl.isa.r700.fetch import (
    RING_BUFFERS,
    VERTEX_FORMATS,
    FetchFormat,
    FetchType,
    MemoryOperation,
    Multiplex,
    VertexOperation,
)
from ctm.rtl.isa.r700.limits import KCACHE_SETS, LDS_ROW
from ctm.rtl.isa.r700.pipeline import FIRST_VERTEX_BUFFER, PRIMITIVE_BANKS, DrawStage
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
_CONTROL_OF_STAGES: dict[DrawStage | None, tuple[CfOperation, ...]] = {
    DrawStage.VS: (CfOperation.CALL_FS,),
    DrawStage.ES: (CfOperation.CALL_FS,),
    DrawStage.GS: control_flow.EMITS,
}
_WRITES_OF_STAGES: dict[DrawStage | None, tuple[ExportOperation, ...]] = {
    DrawStage.VS: STREAM_WRITES,
    DrawStage.DC: STREAM_WRITES,
    DrawStage.ES: (ExportOperation.MEM_RING,),
    DrawStage.GS: (ExportOperation.MEM_RING,),
}
_CALLS = (CfOperation.CALL.value, CfOperation.CALL_FS.value)
_SCALED = 2
"""The last NUM_FORMAT."""
_WIDEST_GAP = 2
"""The element size, less one, that there is not."""


def problem(draft: Draft, directives: Directives) -> str:
    """Why the machine would stop at a CF instruction or a fetch, with the likely fix; "" if it would not.

    Flags of the program that are missing are not looked at.
    """
    name = name_of(draft.form, draft.get(CODE_FIELDS[draft.form]))
    if draft.get(CODE_FIELDS[draft.form]) not in _supported(draft.form, directives.stage):
        where = "the machine" if directives.stage is None else f"a program of stage {directives.stage.name}"
        return f"{where} has no {name}"
    for field, option in _OPTIONS.get(draft.form, {}).items():
        if draft.get(field):
            return f"the machine does no {name} with {option}"
    found = _RULES[draft.form](draft, directives)
    return next((f"{name} {reason}" for reason in found), "")


def _supported(kind: form.Form, stage: DrawStage | None) -> set[int]:
    """The codes of a form that a program may have."""
    if kind is form.CONTROL:
        return _SUPPORTED[kind] | {operation.value for operation in _CONTROL_OF_STAGES.get(stage, ())}
    if kind is form.MEMORY_READ and stage in _WRITES_OF_STAGES:
        return set()
    if kind is form.BUFFER and stage in _WRITES_OF_STAGES:
        return {operation.value for operation in _WRITES_OF_STAGES[stage]}
    return _SUPPORTED[kind]


def _control(draft: Draft, directives: Directives) -> Iterator[str]:
    code, whole = draft.get("cf_inst"), draft.get("whole_quad_mode")
    if code in _UNCONDITIONAL and draft.get("cond") != Condition.ACTIVE.value:
        yield "can have no COND: put a JUMP with it in front"
    if whole and code not in _FETCH_CLAUSES:
        yield "can have no WHOLE_QUAD: fetches can"
    if whole and draft.get("valid_pixel_mode"):
        yield "is of whole quads or of valid pixels, not of both"
    if code in _CALLS and draft.get("pop_count"):
        yield "can have no POP_CNT"


def _clause(draft: Draft, directives: Directives) -> Iterator[str]:
    if draft.get("cf_inst") == AluClause.ALU_PUSH_BEFORE.value and draft.get("whole_quad_mode"):
        yield "can have no WHOLE_QUAD"
    for number in range(KCACHE_SETS):
        mode = draft.get(f"kcache_mode{number}")
        if mode == KcacheMode.LOCK_LOOP_INDEX.value:
            yield "locks lines at aL, which the machine does not do: lock whole lines, as in CB0:16-47"
        banks = PRIMITIVE_BANKS if directives.stage is DrawStage.PS else 0
        if mode and draft.get(f"kcache_bank{number}") > banks:
            known = f"CB0 to CB{banks}" if banks else "CB0, the only one that there is"
            yield f"locks lines of another bank than {known}"


def _export(draft: Draft, directives: Directives) -> Iterator[str]:
    first, burst = draft.get("array_base"), draft.get("burst_count") + 1
    last = first + burst - 1
    if directives.stage in (DrawStage.ES, DrawStage.GS):
        yield "goes nowhere: a program in front of a copy program writes its vertices with MEM_RING"
    if directives.stage in (DrawStage.VS, DrawStage.DC):
        yield from _vertex_export(draft.get("type"), first, last)
        return
    targets = OUTPUTS if directives.stage is None else DRAW_OUTPUTS
    if draft.get("type") != ExportType.PIXEL.value:
        yield f"goes to PIX0 to PIX{targets - 1} or DEPTH: nothing after the program takes other exports"
    if burst > 1 if first == COMPUTED_DEPTH else last >= targets:
        yield f"goes to target {last}: there are PIX0 to PIX{targets - 1}, and DEPTH for one register"
    if directives.flag("memory") and first == MEMORY_OUTPUT:
        yield "goes to output 0, which MEM_EXPORT writes in a program with .memory: export to PIX1"
    if directives.flag("scratch") and first <= SCRATCH_OUTPUT <= last:
        yield "goes to output 3, which is the scratch in a program with .scratch"


def _vertex_export(kind: int, first: int, last: int) -> Iterator[str]:
    allowed = {
        ExportType.POS.value: range(FIRST_POSITION, FIRST_POSITION + POSITIONS),
        ExportType.PARAM.value: range(PARAMETERS),
    }.get(kind, range(0))
    if first not in allowed or last not in allowed:
        yield f"goes to POS{FIRST_POSITION} to POS{FIRST_POSITION + POSITIONS - 1} or PARAM0 to PARAM{PARAMETERS - 1}"


def _element(draft: Draft) -> Iterator[str]:
    if draft.get("elem_size") == _WIDEST_GAP:
        yield "has elements of 1, 2 or 4 dwords, not of 3"


def _memory_write(draft: Draft, directives: Directives) -> Iterator[str]:
    yield from _element(draft)


def _texture(draft: Draft, directives: Directives) -> Iterator[str]:
    if draft.get("tex_inst") not in _WITHOUT_INPUT:
        yield from _input("t", draft.get("resource_id"), directives)


def _vertex(draft: Draft, directives: Directives) -> Iterator[str]:
    if directives.stage not in (None, DrawStage.PS) and draft.get("buffer_id"):
        yield from _buffer_fetch(draft, directives)
        return
    if draft.get("buffer_id"):
        yield from _input("b", draft.get("buffer_id"), directives, "; b0 is the constants")
        if draft.get("offset"):
            yield "can have an OFFSET in b0, the constants, only"
        return
    if draft.get("offset") % 4:
        yield "has an OFFSET that is no multiple of 4 bytes"
    if draft.get("data_format") not in _FORMATS:
        yield "has a FORMAT that the machine has not"


def _buffer_fetch(draft: Draft, directives: Directives) -> Iterator[str]:
    buffer, kind = draft.get("buffer_id"), draft.get("fetch_type")
    if directives.stage in (DrawStage.GS, DrawStage.DC):
        if buffer not in RING_BUFFERS:
            yield f"reads b{buffer}, and the ring is b{RING_BUFFERS[0]}"
        if kind != FetchType.NO_INDEX_OFFSET.value:
            yield "reads a ring with FETCH_TYPE(NO_INDEX_OFFSET) only"
    elif not FIRST_VERTEX_BUFFER <= buffer < FIRST_VERTEX_BUFFER + VERTEX_BUFFERS:
        last = FIRST_VERTEX_BUFFER + VERTEX_BUFFERS - 1
        yield f"reads b{buffer}, which is no vertex buffer: these are b{FIRST_VERTEX_BUFFER} to b{last}"
    if kind not in [known.value for known in FetchType]:
        yield f"has no FETCH_TYPE {kind}"
    element = draft.get("data_format")
    if element not in VERTEX_FORMATS:
        yield f"has a FORMAT ({element}) that vertex buffers have not"
    elif not VERTEX_FORMATS[element][2] and draft.get("num_format_all") > _SCALED:
        yield "has no such NUM_FORMAT"


def _input(letter: str, resource: int, directives: Directives, suffix: str = "") -> Iterator[str]:
    base = directives.numbers.get("texture_base", 0)
    if not base <= resource < base + INPUTS:
        inputs = f"{letter}{base} to {letter}{base + INPUTS - 1}"
        yield f"reads {letter}{resource}, which is no input: with .texture_base {base} these are {inputs}{suffix}"


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
