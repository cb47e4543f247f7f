"""Decodes fetch clauses."""

from collections.abc import Sequence

from ctm.rtl.isa.draws import VERTEX_BUFFERS
from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation, Multiplex, TextureOperation, VertexOperation
from ctm.rtl.isa.r700.limits import FETCH_UNITS, LDS_ROW
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.rtl.isa.word import unpack
from ctm.sim.golden.r700.decode.error import IllegalError, illegal_if
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import (
    BufferFetch,
    Clause,
    FetchInstruction,
    Illegal,
    MemoryRead,
    Numeric,
    ShareRead,
    ShareWrite,
    Texture,
    Vertex,
    VertexFormat,
)

Units = Sequence[tuple[int, ...]]

_CHANNELS = {
    FetchFormat.INT32_1: 1, FetchFormat.INT32_2: 2, FetchFormat.INT32_3: 3, FetchFormat.INT32_4: 4,
    FetchFormat.FLOAT32_1: 1, FetchFormat.FLOAT32_2: 2, FetchFormat.FLOAT32_3: 3, FetchFormat.FLOAT32_4: 4,
}  # fmt: skip
_FLOATS = (FetchFormat.FLOAT32_1, FetchFormat.FLOAT32_2, FetchFormat.FLOAT32_3, FetchFormat.FLOAT32_4)
_ONE_BITS = 0x3F80_0000
_OFFSET_BITS = 5


def decode_fetches(code: Units, first: int, units: int, information: Information, *, texture: bool) -> Clause:
    """The instructions of a fetch clause, which lies in the code, up to the first that is illegal.

    `texture`: it is a TEX clause, not a VTX one.
    """
    instructions: list[FetchInstruction | Illegal] = []
    addresses = []
    for address in range(first, first + units, FETCH_UNITS):
        addresses.append(address)
        words = [word for unit in code[address : address + FETCH_UNITS] for word in unit]
        try:
            instructions.append(_instruction(words, information, texture=texture))
        except IllegalError as error:
            instructions.append(Illegal(str(error)))
            break
    return Clause(instructions=tuple(instructions), addresses=tuple(addresses))


def _instruction(words: Sequence[int], information: Information, *, texture: bool) -> FetchInstruction:
    form = unpack(fetch.FETCH, words[0])
    code = form["inst"]
    if code == VertexOperation.FETCH.value:
        if information.stage in (None, DrawStage.PS) or not unpack(fetch.VTX_DWORD0, words[0])["buffer_id"]:
            return _vertex(words, information)
        return _buffer_fetch(words, information)
    if code == VertexOperation.MEM.value:
        operation = form["mem_op"]
        if operation in (MemoryOperation.RD_SCATTER.value, MemoryOperation.RD_SCRATCH.value):
            return _memory_read(words, information)
        if operation == MemoryOperation.LOCAL_DS_WRITE.value:
            return _share_write(words)
        if operation == MemoryOperation.LOCAL_DS_READ.value:
            return _share_read(words)
        raise IllegalError(f"memory operation {operation}{_named(MemoryOperation, operation)} is not supported")
    if not texture:
        raise IllegalError(f"vertex instruction {code}{_named(VertexOperation, code)} is not supported")
    return _texture(words, information)


def _named(codes: type[TextureOperation | VertexOperation | MemoryOperation], number: int) -> str:
    return next((f" ({code.name})" for code in codes if code.value == number), "")


def _fields(forms: Sequence[object], words: Sequence[int]) -> dict[str, int]:
    """The fields of an instruction's words. No reserved bit may be set."""
    fields: dict[str, int] = {}
    for layout, word in zip(forms, words, strict=True):
        found = unpack(layout, word)  # type: ignore[arg-type]
        illegal_if(any(value for name, value in found.items() if name.startswith("reserved")), "a reserved bit is set")
        fields |= found
    return fields


def _destination_selects(fields: dict[str, int], prefix: str = "dst_sel") -> tuple[int, ...]:
    selects = tuple(fields[f"{prefix}_{component}"] for component in "xyzw")
    known = {select.value for select in ComponentSelect}
    illegal_if(any(select not in known for select in selects), "a component select of 6")
    return selects


def _texture(words: Sequence[int], information: Information) -> Texture:
    fields = _fields(fetch.TEXTURE, words)
    code = fields["tex_inst"]
    known = {operation.value: operation for operation in fetch.SUPPORTED}
    illegal_if(code not in known, f"texture instruction {code}{_named(TextureOperation, code)} is not supported")
    operation = known[code]
    illegal_if(bool(fields["alt_const"]), "ALT_CONST is set")
    illegal_if(bool(fields["bc_frac_mode"]), "BC_FRAC_MODE is set")
    number = fields["resource_id"] - information.texture_base
    is_input = 0 <= number < INPUTS
    illegal_if(operation not in fetch.WITHOUT_INPUT and not is_input, f"resource {fields['resource_id']} is no input")
    return Texture(
        operation=operation,
        input=number if is_input else 0,
        source=fields["src_gpr"],
        source_relative=bool(fields["src_rel"]),
        destination=fields["dst_gpr"],
        destination_relative=bool(fields["dst_rel"]),
        selects=_destination_selects(fields),
        coordinates=tuple(fields[f"src_sel_{component}"] for component in "xyzw"),
        offsets=(_signed(fields["offset_x"]), _signed(fields["offset_y"])),
        normalised=(bool(fields["coord_type_x"]), bool(fields["coord_type_y"])),
    )


def _signed(offset: int) -> int:
    sign = 1 << _OFFSET_BITS - 1
    return (offset ^ sign) - sign


def _buffer_fetch(words: Sequence[int], information: Information) -> BufferFetch:
    """A fetch of a program that is run for vertices or primitives."""
    fields = _fields(fetch.VERTEX, words)
    for name in ("use_const_fields", "endian_swap", "alt_const", "const_buf_no_stride"):
        illegal_if(bool(fields[name]), f"{name.upper()} is set")
    buffer, kind = fields["buffer_id"], fields["fetch_type"]
    reads_ring = information.stage in (DrawStage.GS, DrawStage.DC)
    number = buffer - information.first_buffer
    is_buffer = buffer in fetch.RING_BUFFERS if reads_ring else 0 <= number < VERTEX_BUFFERS
    illegal_if(not is_buffer, f"buffer {buffer} is {'not the ring' if reads_ring else 'no vertex buffer'}")
    kinds = (fetch.FetchType.NO_INDEX_OFFSET,) if reads_ring else fetch.FetchType
    illegal_if(all(kind != each.value for each in kinds), f"FETCH_TYPE {kind}")
    return BufferFetch(
        buffer=None if reads_ring else number,
        component=fields["src_sel_x"],
        offset=fields["offset"],
        by_instance=kind == fetch.FetchType.INSTANCE_DATA.value,
        element=_vertex_format(fields),
        source=fields["src_gpr"],
        source_relative=bool(fields["src_rel"]),
        destination=fields["dst_gpr"],
        destination_relative=bool(fields["dst_rel"]),
        selects=_destination_selects(fields),
    )


def _vertex_format(fields: dict[str, int]) -> VertexFormat:
    code, numeric = fields["data_format"], fields["num_format_all"]
    illegal_if(code not in fetch.VERTEX_FORMATS, f"DATA_FORMAT {code} of a vertex buffer is not supported")
    channels, bits, is_float = fetch.VERTEX_FORMATS[code]
    if is_float:
        return VertexFormat(channels=channels, bits=bits, numeric=Numeric.FLOAT)
    illegal_if(numeric > Numeric.SCALED.value, f"NUM_FORMAT {numeric}")
    return VertexFormat(channels=channels, bits=bits, numeric=Numeric(numeric), signed=bool(fields["format_comp_all"]))


def _vertex(words: Sequence[int], information: Information) -> Vertex:
    fields = _fields(fetch.VERTEX, words)
    for name in ("use_const_fields", "endian_swap", "alt_const", "const_buf_no_stride"):
        illegal_if(bool(fields[name]), f"{name.upper()} is set")
    buffer, offset = fields["buffer_id"], fields["offset"]
    number = buffer - information.texture_base
    channels, one = 4, _ONE_BITS
    if buffer == 0:
        illegal_if(offset % 4 != 0, f"OFFSET {offset} is no multiple of 4")
        element = _format(fields["data_format"])
        channels, one = _CHANNELS[element], _ONE_BITS if element in _FLOATS else 1
    else:
        illegal_if(not 0 <= number < INPUTS, f"buffer {buffer} is neither the constants nor an input")
        illegal_if(offset != 0, f"OFFSET {offset} in a fetch from an input")
    return Vertex(
        input=None if buffer == 0 else number,
        source=fields["src_gpr"],
        source_relative=bool(fields["src_rel"]),
        component=fields["src_sel_x"],
        destination=fields["dst_gpr"],
        destination_relative=bool(fields["dst_rel"]),
        selects=_destination_selects(fields),
        offset=offset,
        channels=channels,
        one=one,
    )


def _format(number: int) -> FetchFormat:
    known = {element.value: element for element in FetchFormat}
    illegal_if(number not in known, f"DATA_FORMAT {number} is not supported")
    return known[number]


def _memory_read(words: Sequence[int], information: Information) -> MemoryRead:
    fields = _fields(fetch.MEMORY_READ, words)
    scratch = fields["mem_op"] == MemoryOperation.RD_SCRATCH.value
    name, flag = ("RD_SCRATCH", "SCRATCH") if scratch else ("RD_SCATTER", "MEMORY")
    illegal_if(
        not (information.scratch if scratch else information.memory), f"{name} in a program without the flag {flag}"
    )
    for bit in ("lds_req", "coalesced_read", "endian_swap"):
        illegal_if(bool(fields[bit]), f"{bit.upper()} is set")
    illegal_if(fields["elem_size"] == 2, "ELEM_SIZE is 2")
    vectors = (FetchFormat.INT32_4.value, FetchFormat.FLOAT32_4.value)
    illegal_if(fields["data_format"] not in vectors, f"{name} with DATA_FORMAT {fields['data_format']}")
    return MemoryRead(
        scratch=scratch,
        source=fields["src_gpr"],
        source_relative=bool(fields["src_rel"]),
        component=fields["src_sel_x"] if fields["indexed"] else None,
        destination=fields["dst_gpr"],
        destination_relative=bool(fields["dst_rel"]),
        selects=_destination_selects(fields),
        base=fields["array_base"],
        size=fields["array_size"],
        element=fields["elem_size"] + 1,
        burst=fields["burst_count"] + 1,
    )


def _share_write(words: Sequence[int]) -> ShareWrite:
    fields = _fields(fetch.SHARE_WRITE, words)
    illegal_if(fields["src_rel_mode"] != 0, "SRC_REL_MODE is not 0")
    illegal_if(not fields["simd_wave_rel"], "SIMD_WAVE_REL is 0: thread groups of several wavefronts are not supported")
    index = fields["dst_index_ext"] << 6 | fields["dst_index"]
    stride = fields["dst_stride_ext"] << 7 | fields["dst_stride"]
    illegal_if(bool(index % LDS_ROW or stride % LDS_ROW), f"DST_INDEX or DST_STRIDE is no multiple of {LDS_ROW}")
    return ShareWrite(
        source=fields["src_gpr"],
        selects=tuple(fields[f"src_sel_{component}"] for component in "xyzw"),
        index=index,
        stride=stride,
        burst=fields["burst_count"] + 1,
    )


def _share_read(words: Sequence[int]) -> ShareRead:
    fields = _fields(fetch.SHARE_READ, words)
    illegal_if(bool(fields["src_rel_mode"] or fields["dst_rel_mode"]), "SRC_REL_MODE or DST_REL_MODE is not 0")
    bank, dword = fields["src_sel_x"], fields["src_sel_y"]
    illegal_if(bank > 3 or dword > 3, "a select that is no component")
    modes = {mode.value: mode for mode in (Multiplex.NONE, Multiplex.WORD_SELECT)}
    illegal_if(fields["mux_cntl"] not in modes, f"MUX_CNTL {fields['mux_cntl']}")
    masks = [fields[f"dst_wr_{component}"] for component in "xyzw"]
    return ShareRead(
        source=fields["src_gpr"],
        source_relative=False,
        destination=fields["dst_gpr"],
        destination_relative=False,
        selects=tuple(component if mask else ComponentSelect.MASK.value for component, mask in enumerate(masks)),
        bank=bank,
        dword=dword,
        offset=fields["rd_offset"],
        broadcast=bool(fields["broadcast"]),
        mux=modes[fields["mux_cntl"]],
        burst=fields["burst_count"] + 1,
    )
