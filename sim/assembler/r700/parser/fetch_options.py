"""Parses the options of fetch instructions."""

from ctm.rtl.isa.r700.fetch import FetchFormat
from ctm.sim.assembler.cursor import Cursor, number
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.names import COMPONENTS, FORMAT_NAMES, MULTIPLEX_NAMES
from ctm.sim.assembler.r700.parser.options import Option, code_option, flag_option, in_parentheses, number_option
from ctm.sim.assembler.tokens import Kind

NUM_FORMATS = {0: "NORM", 1: "INT", 2: "SCALED"}
FETCH_TYPES = {0: "VERTEX_DATA", 1: "INSTANCE_DATA", 2: "NO_INDEX_OFFSET"}
DEFAULT_NUM_FORMAT, DEFAULT_FETCH_TYPE = 2, 2
DEFAULT_FORMAT = FetchFormat.FLOAT32_4.value
SCRATCH_ELEMENT = 4
"""Dwords of an element of the scratch and of exports; of other memory one dword, if nothing else is written."""
LOD_BIAS_STEPS = 8
OFFSET_STEPS = 2
"""Steps of a texel, or of a level of detail, that a field counts."""


def _wide(draft: Draft, field: str, what: str) -> Option:
    """A number whose higher bits are in a field of their own."""

    def option(cursor: Cursor) -> None:
        low = draft.form.limit(field)
        value = cursor.integer(what, low * draft.form.limit(f"{field}_ext"))
        draft.write(**{field: value % low, f"{field}_ext": value // low})

    return in_parentheses(option)


def _fraction(cursor: Cursor, steps: int, limit: int, what: str) -> int:
    """A signed number of which a field counts so many steps, as its code below `limit`."""
    position = cursor.position
    sign = -1 if cursor.accept("-") else 1
    cursor.expand_alias()
    value = number(cursor.token) * steps * sign if cursor.token.kind is Kind.NUMBER else None
    if value is None or value % 1 or not -limit // 2 <= value < limit // 2:
        lowest, highest = -limit // 2 / steps, (limit // 2 - 1) / steps
        cursor.fail_at(f"{what} is a multiple of {1 / steps:g} of {lowest:g} to {highest:g}", position)
    cursor.take()
    return int(value) % limit


def _offset(draft: Draft) -> Option:
    """`OFFSET(1, -0.5, 0)`: one to three numbers of texels."""

    def option(cursor: Cursor) -> None:
        for component in "xyz":
            if component != "x" and cursor.accept(",") is None:
                return
            field = f"offset_{component}"
            draft.set(field, _fraction(cursor, OFFSET_STEPS, draft.form.limit(field), "an offset"))

    return in_parentheses(option)


def _bias(draft: Draft) -> Option:
    def option(cursor: Cursor) -> None:
        draft.set("lod_bias", _fraction(cursor, LOD_BIAS_STEPS, draft.form.limit("lod_bias"), "a bias"))

    return in_parentheses(option)


def _unnormalised(draft: Draft) -> Option:
    """`UNNORM`, or `UNNORM(xy)` for some coordinates."""

    def option(cursor: Cursor) -> None:
        letters = COMPONENTS
        if cursor.accept("("):
            letters = cursor.expect_name("the coordinates, as in xy").text.lower()
            if set(letters) - set(COMPONENTS):
                cursor.fail("coordinates are letters of x, y, z, w")
            cursor.expect(")")
        for component in letters:
            draft.set(f"coord_type_{component}", 0)

    return option


def _mega_fetch(draft: Draft) -> Option:
    def option(cursor: Cursor) -> None:
        draft.set("mega_fetch", 1)
        draft.set("mega_fetch_count", cursor.integer("the bytes less one", draft.form.limit("mega_fetch_count")))

    return in_parentheses(option)


def _formats(draft: Draft) -> dict[str, Option]:
    return {
        "format": code_option(draft, "data_format", FORMAT_NAMES, "a data format"),
        "num_format": code_option(draft, "num_format_all", NUM_FORMATS, "a number format"),
        "signed": flag_option(draft, "format_comp_all"),
        "srf_mode": flag_option(draft, "srf_mode_all"),
        "endian_swap": number_option(draft, "endian_swap", "the endian swap"),
    }


def texture_options(draft: Draft) -> dict[str, Option]:
    """What a texture fetch can have after its operands."""
    return {
        "unnorm": _unnormalised(draft),
        "offset": _offset(draft),
        "lod_bias": _bias(draft),
        "whole_quad": flag_option(draft, "fetch_whole_quad"),
        "bc_frac_mode": flag_option(draft, "bc_frac_mode"),
        "alt_const": flag_option(draft, "alt_const"),
    }


def vertex_options(draft: Draft) -> dict[str, Option]:
    """What a vertex fetch can have after its operands."""
    return {
        **_formats(draft),
        "offset": number_option(draft, "offset", "the offset in bytes"),
        "fetch_type": code_option(draft, "fetch_type", FETCH_TYPES, "a fetch type"),
        "mega_fetch": _mega_fetch(draft),
        "whole_quad": flag_option(draft, "fetch_whole_quad"),
        "use_const_fields": flag_option(draft, "use_const_fields"),
        "no_stride": flag_option(draft, "const_buf_no_stride"),
        "alt_const": flag_option(draft, "alt_const"),
    }


def memory_options(draft: Draft) -> dict[str, Option]:
    """What a memory read can have after its operands."""
    return {
        **_formats(draft),
        "elem_size": number_option(draft, "elem_size", "the dwords of an element", less=1),
        "array_size": number_option(draft, "array_size", "the elements of the area", less=1),
        "burst": number_option(draft, "burst_count", "the registers of a burst", less=1),
        "uncached": flag_option(draft, "uncached"),
        "whole_quad": flag_option(draft, "fetch_whole_quad"),
    }


def share_write_options(draft: Draft) -> dict[str, Option]:
    """What a write to the data share can have after its operands."""
    return {
        "index": _wide(draft, "dst_index", "the first dword"),
        "stride": _wide(draft, "dst_stride", "the dwords of an owner"),
        "wave_rel": flag_option(draft, "simd_wave_rel"),
        "burst": number_option(draft, "burst_count", "the registers of a burst", less=1),
    }


def share_read_options(draft: Draft) -> dict[str, Option]:
    """What a read of the data share can have after its operands."""
    return {
        "offset": number_option(draft, "rd_offset", "the offset in dwords"),
        "mux": code_option(draft, "mux_cntl", MULTIPLEX_NAMES, "a multiplexing"),
        "broadcast": flag_option(draft, "broadcast"),
        "waterfall": flag_option(draft, "waterfall"),
        "burst": number_option(draft, "burst_count", "the registers of a burst", less=1),
    }
