"""Writes fetch instructions as text."""

from collections.abc import Callable

from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation
from ctm.sim.assembler.r700.form import MEMORY_READ, SHARE_READ, SHARE_WRITE, TEXTURE, VERTEX, Draft
from ctm.sim.assembler.r700.groups.view import register_text
from ctm.sim.assembler.r700.names import (
    CODE_FIELDS,
    COMPONENTS,
    FORMAT_NAMES,
    INDEX_NAMES,
    MULTIPLEX_NAMES,
    SELECTS,
    name_of,
)
from ctm.sim.assembler.r700.parser.fetch import parse_fetch
from ctm.sim.assembler.r700.parser.fetch_options import (
    DEFAULT_FETCH_TYPE,
    DEFAULT_FORMAT,
    DEFAULT_NUM_FORMAT,
    FETCH_TYPES,
    LOD_BIAS_STEPS,
    NUM_FORMATS,
    OFFSET_STEPS,
    SCRATCH_ELEMENT,
)
from ctm.sim.assembler.r700.printer.fitting import cursor_of, swizzle_text, with_overrides

_LOOP_INDEX = next(code for code, name in INDEX_NAMES.items() if name == "aL")


def fetch_text(draft: Draft) -> str:
    """A fetch instruction."""
    name = name_of(draft.form, draft.get(CODE_FIELDS[draft.form]))
    text = " ".join([name, *_FORMS[draft.form](draft)])
    return with_overrides(text, parse_fetch(cursor_of(text)), draft)


def _register(draft: Draft, which: str) -> str:
    relative = f"{which}_rel" in draft.form.fields and draft.get(f"{which}_rel")
    return register_text(draft.get(f"{which}_gpr"), _LOOP_INDEX if relative else None)


def _selects(draft: Draft, prefix: str, components: str = COMPONENTS) -> str:
    return swizzle_text([draft.get(f"{prefix}_{component}") for component in components], SELECTS)


def _destination(draft: Draft) -> str:
    return f"{_register(draft, 'dst')}{_selects(draft, 'dst_sel')}"


def _ones(draft: Draft, **names: str) -> list[str]:
    return [name for field, name in names.items() if draft.get(field)]


def _numbers(draft: Draft, **names: str) -> list[str]:
    return [f"{name}({draft.get(field)})" for field, name in names.items() if draft.get(field)]


def _code(draft: Draft, field: str, name: str, names: dict[int, str], default: int) -> list[str]:
    code = draft.get(field)
    return [f"{name}({names.get(code, code)})"] if code != default else []


def _burst(draft: Draft) -> list[str]:
    return [f"BURST({draft.get('burst_count') + 1})"] if draft.get("burst_count") else []


def _signed(draft: Draft, field: str, steps: int) -> str:
    """A signed field that counts so many steps."""
    half = draft.form.limit(field) // 2
    return f"{((draft.get(field) + half) % (2 * half) - half) / steps:g}"


def _texture(draft: Draft) -> list[str]:
    source = f"{_register(draft, 'src')}{_selects(draft, 'src_sel')}"
    operands = f"{_destination(draft)}, {source}, t{draft.get('resource_id')}, s{draft.get('sampler_id')}"
    plain = "".join(component for component in COMPONENTS if not draft.get(f"coord_type_{component}"))
    found = [operands, *([f"UNNORM({plain})" if plain != COMPONENTS else "UNNORM"] if plain else [])]
    if any(draft.get(f"offset_{component}") for component in "xyz"):
        found.append(f"OFFSET({', '.join(_signed(draft, f'offset_{each}', OFFSET_STEPS) for each in 'xyz')})")
    if draft.get("lod_bias"):
        found.append(f"LOD_BIAS({_signed(draft, 'lod_bias', LOD_BIAS_STEPS)})")
    flags = {"fetch_whole_quad": "WHOLE_QUAD", "bc_frac_mode": "BC_FRAC_MODE", "alt_const": "ALT_CONST"}
    return found + _ones(draft, **flags)


def _formats(draft: Draft, default: int) -> list[str]:
    return [
        *_code(draft, "data_format", "FORMAT", FORMAT_NAMES, default),
        *_code(draft, "num_format_all", "NUM_FORMAT", NUM_FORMATS, DEFAULT_NUM_FORMAT),
        *_ones(draft, format_comp_all="SIGNED", srf_mode_all="SRF_MODE"),
        *_numbers(draft, endian_swap="ENDIAN_SWAP"),
    ]


def _vertex(draft: Draft) -> list[str]:
    index = f"{_register(draft, 'src')}.{COMPONENTS[draft.get('src_sel_x')]}"
    flags = {
        "fetch_whole_quad": "WHOLE_QUAD",
        "use_const_fields": "USE_CONST_FIELDS",
        "const_buf_no_stride": "NO_STRIDE",
        "alt_const": "ALT_CONST",
    }
    return [
        f"{_destination(draft)}, {index}, b{draft.get('buffer_id')}",
        *_formats(draft, DEFAULT_FORMAT),
        *_numbers(draft, offset="OFFSET"),
        *_code(draft, "fetch_type", "FETCH_TYPE", FETCH_TYPES, DEFAULT_FETCH_TYPE),
        *([f"MEGA_FETCH({draft.get('mega_fetch_count')})"] if draft.get("mega_fetch") else []),
        *_ones(draft, **flags),
    ]


def _memory_read(draft: Draft) -> list[str]:
    index = f"+{_register(draft, 'src')}.{COMPONENTS[draft.get('src_sel_x')]}" if draft.get("indexed") else ""
    is_scatter = draft.get("mem_op") == MemoryOperation.RD_SCATTER.value
    element, size = draft.get("elem_size") + 1, draft.get("array_size") + 1
    return [
        f"{_destination(draft)}, [{draft.get('array_base')}{index}]",
        *_formats(draft, FetchFormat.INT32_4.value),
        *([f"ELEM_SIZE({element})"] if element != (1 if is_scatter else SCRATCH_ELEMENT) else []),
        *([f"ARRAY_SIZE({size})"] if size != draft.form.limit("array_size") else []),
        *_burst(draft),
        *_ones(draft, uncached="UNCACHED", fetch_whole_quad="WHOLE_QUAD"),
    ]


def _wide(draft: Draft, field: str, name: str) -> list[str]:
    value = draft.get(field) + draft.form.limit(field) * draft.get(f"{field}_ext")
    return [f"{name}({value})"] if value else []


def _share_write(draft: Draft) -> list[str]:
    return [
        f"{_register(draft, 'src')}{_selects(draft, 'src_sel')}",
        *_wide(draft, "dst_index", "INDEX"),
        *_wide(draft, "dst_stride", "STRIDE"),
        *_ones(draft, simd_wave_rel="WAVE_REL"),
        *_burst(draft),
    ]


def _share_read(draft: Draft) -> list[str]:
    mask = "".join(component if draft.get(f"dst_wr_{component}") else "_" for component in COMPONENTS)
    return [
        f"{_register(draft, 'dst')}.{mask}, {_register(draft, 'src')}{_selects(draft, 'src_sel', 'xy')}",
        *_numbers(draft, rd_offset="OFFSET"),
        *_code(draft, "mux_cntl", "MUX", MULTIPLEX_NAMES, 0),
        *_ones(draft, broadcast="BROADCAST", waterfall="WATERFALL"),
        *_burst(draft),
    ]


_FORMS: dict[object, Callable[[Draft], list[str]]] = {
    TEXTURE: _texture,
    VERTEX: _vertex,
    MEMORY_READ: _memory_read,
    SHARE_WRITE: _share_write,
    SHARE_READ: _share_read,
}
