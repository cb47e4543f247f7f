"""Parses fetch instructions: texture and vertex fetches, memory reads, and the data share."""

from collections.abc import Callable

from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation, TextureOperation
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.form import MEMORY_READ, SHARE_READ, SHARE_WRITE, TEXTURE, VERTEX, Draft
from ctm.sim.assembler.r700.names import CODE_FIELDS, COMPONENTS, FETCH_CODES, SELECTS
from ctm.sim.assembler.r700.parser import registers
from ctm.sim.assembler.r700.parser.fetch_options import (
    DEFAULT_FETCH_TYPE,
    DEFAULT_FORMAT,
    DEFAULT_NUM_FORMAT,
    SCRATCH_ELEMENT,
    memory_options,
    share_read_options,
    share_write_options,
    texture_options,
    vertex_options,
)
from ctm.sim.assembler.r700.parser.options import Option, parse_options, parse_overrides


def parse_fetch(cursor: Cursor) -> Draft:
    """One fetch instruction."""
    form, code = FETCH_CODES[cursor.take().text.lower()]
    draft = Draft(form)
    if form in (MEMORY_READ, SHARE_WRITE, SHARE_READ):
        draft.set("mem_inst", TextureOperation.MEM.value)
    draft.set(CODE_FIELDS[form], code)
    parse_operands, options = _FORMS[form]
    parse_operands(cursor, draft)
    parse_options(cursor, options(draft))
    for name, value in parse_overrides(cursor, form):
        draft.set(name, value)
    return draft


def _destination(cursor: Cursor, draft: Draft) -> None:
    """`R1.xy0_`: what each component becomes."""
    gpr, relative = registers.parse_loop_gpr(cursor)
    draft.write(dst_gpr=gpr, dst_rel=relative)
    _set_selects(draft, "dst_sel", registers.parse_selects(cursor, "____"))


def _set_selects(draft: Draft, prefix: str, selects: list[int]) -> None:
    for component, select in zip(COMPONENTS, selects, strict=False):
        draft.set(f"{prefix}_{component}", select)


def _source(cursor: Cursor, draft: Draft) -> None:
    gpr, relative = registers.parse_loop_gpr(cursor)
    draft.write(src_gpr=gpr, src_rel=relative)


def _texture(cursor: Cursor, draft: Draft) -> None:
    """`R1.xyzw, R0.xy__, t0, s0`."""
    _destination(cursor, draft)
    cursor.expect(",")
    _source(cursor, draft)
    _set_selects(draft, "src_sel", registers.parse_selects(cursor, COMPONENTS))
    cursor.expect(",")
    draft.set("resource_id", registers.parse_numbered(cursor, "t", draft.form.limit("resource_id"), "a texture"))
    if cursor.accept(","):
        draft.set("sampler_id", registers.parse_numbered(cursor, "s", draft.form.limit("sampler_id"), "a sampler"))
    for component in COMPONENTS:
        draft.set(f"coord_type_{component}", 1)


def _vertex(cursor: Cursor, draft: Draft) -> None:
    """`R1.xyzw, R0.x, b0`."""
    draft.write(fetch_type=DEFAULT_FETCH_TYPE, data_format=DEFAULT_FORMAT, num_format_all=DEFAULT_NUM_FORMAT)
    _destination(cursor, draft)
    cursor.expect(",")
    _source(cursor, draft)
    draft.set("src_sel_x", registers.parse_channel(cursor, "the index"))
    cursor.expect(",")
    draft.set("buffer_id", registers.parse_numbered(cursor, "b", draft.form.limit("buffer_id"), "a buffer"))


def _memory_read(cursor: Cursor, draft: Draft) -> None:
    """`R1.xyzw, [16]` or `R1.xyzw, [16+R0.x]`."""
    is_scatter = draft.get("mem_op") == MemoryOperation.RD_SCATTER.value
    draft.write(data_format=FetchFormat.INT32_4.value, num_format_all=DEFAULT_NUM_FORMAT)
    draft.write(array_size=draft.form.limit("array_size") - 1, elem_size=0 if is_scatter else SCRATCH_ELEMENT - 1)
    _destination(cursor, draft)
    cursor.expect(",")
    cursor.expect("[")
    draft.set("array_base", cursor.integer("the first element", draft.form.limit("array_base")))
    if cursor.accept("+"):
        draft.set("indexed", 1)
        _source(cursor, draft)
        draft.set("src_sel_x", registers.parse_channel(cursor, "the index"))
    cursor.expect("]")


def _share_write(cursor: Cursor, draft: Draft) -> None:
    """`R1.xyz_`: the data."""
    draft.write(src_gpr=registers.parse_numbered(cursor, "r", draft.form.limit("src_gpr"), "a register"))
    _set_selects(draft, "src_sel", registers.parse_selects(cursor, "____"))


def _share_read(cursor: Cursor, draft: Draft) -> None:
    """`R1.xyz_, R0.xy`: a mask of what is written; where bank and dword are."""
    draft.set("dst_gpr", registers.parse_numbered(cursor, "r", draft.form.limit("dst_gpr"), "a register"))
    position = cursor.position
    for number, select in enumerate(registers.parse_selects(cursor, "____")):
        if select not in (number, SELECTS.index("_")):
            cursor.fail_at("the components that are written stand in their positions, as in .xy_w", position)
        draft.set(f"dst_wr_{COMPONENTS[number]}", select == number)
    cursor.expect(",")
    draft.set("src_gpr", registers.parse_numbered(cursor, "r", draft.form.limit("src_gpr"), "a register"))
    _set_selects(draft, "src_sel", registers.parse_selects(cursor, "xy"))


_FORMS: dict[object, tuple[Callable[[Cursor, Draft], None], Callable[[Draft], dict[str, Option]]]] = {
    TEXTURE: (_texture, texture_options),
    VERTEX: (_vertex, vertex_options),
    MEMORY_READ: (_memory_read, memory_options),
    SHARE_WRITE: (_share_write, share_write_options),
    SHARE_READ: (_share_read, share_read_options),
}
