"""Fetch words: the instructions of TEX and VTX clauses, each 128 bits of which the last 32 are 0.

Source: R700-Family Instruction Set Architecture, VTX_DWORD0 to MEM_DSR_DWORD2. The layouts of the data share's words
are known from one source only; their widths add up to whole words.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.r700.components import ComponentSelect


class TextureOperation(enum.Enum, shape=5):
    """TEX_INST: instructions of a TEX clause."""

    VTX_FETCH = 0x00
    VTX_SEMANTIC = 0x01
    MEM = 0x02
    LD = 0x03
    GET_TEXTURE_RESINFO = 0x04
    GET_NUMBER_OF_SAMPLES = 0x05
    GET_LOD = 0x06
    GET_GRADIENTS_H = 0x07
    GET_GRADIENTS_V = 0x08
    GET_LERP = 0x09
    KEEP_GRADIENTS = 0x0A
    SET_GRADIENTS_H = 0x0B
    SET_GRADIENTS_V = 0x0C
    PASS = 0x0D
    SET_CUBEMAP_INDEX = 0x0E
    FETCH4 = 0x0F
    SAMPLE = 0x10
    SAMPLE_L = 0x11
    SAMPLE_LB = 0x12
    SAMPLE_LZ = 0x13
    SAMPLE_G = 0x14
    SAMPLE_G_L = 0x15
    SAMPLE_G_LB = 0x16
    SAMPLE_G_LZ = 0x17
    SAMPLE_C = 0x18
    SAMPLE_C_L = 0x19
    SAMPLE_C_LB = 0x1A
    SAMPLE_C_LZ = 0x1B
    SAMPLE_C_G = 0x1C
    SAMPLE_C_G_L = 0x1D
    SAMPLE_C_G_LB = 0x1E
    SAMPLE_C_G_LZ = 0x1F


LOOKUPS = (
    TextureOperation.LD,
    TextureOperation.SAMPLE,
    TextureOperation.SAMPLE_L,
    TextureOperation.SAMPLE_LB,
    TextureOperation.SAMPLE_LZ,
    TextureOperation.SAMPLE_G,
    TextureOperation.SAMPLE_G_L,
    TextureOperation.SAMPLE_G_LB,
    TextureOperation.SAMPLE_G_LZ,
)
"""Fetches from an input that this machine does: all samples are the same, because there are no mip levels."""
WITHOUT_INPUT = (
    TextureOperation.GET_GRADIENTS_H,
    TextureOperation.GET_GRADIENTS_V,
    TextureOperation.KEEP_GRADIENTS,
    TextureOperation.SET_GRADIENTS_H,
    TextureOperation.SET_GRADIENTS_V,
)
"""Those that this machine does and that concern no resource, whatever their RESOURCE_ID is."""
SUPPORTED = (*LOOKUPS, TextureOperation.GET_TEXTURE_RESINFO, *WITHOUT_INPUT)
"""Texture instructions that this machine does."""


class VertexOperation(enum.Enum, shape=5):
    """VTX_INST: instructions of a VTX clause."""

    FETCH = 0x00
    SEMANTIC = 0x01
    MEM = 0x02


class MemoryOperation(enum.Enum, shape=3):
    """MEM_OP: instructions of either clause that access memory or the data share."""

    RD_SCRATCH = 0x00
    RD_REDUC = 0x01
    RD_SCATTER = 0x02
    LOCAL_DS_WRITE = 0x04
    LOCAL_DS_READ = 0x05
    GLOBAL_DS_WRITE = 0x06
    GLOBAL_DS_READ = 0x07


class SourceSelect(enum.Enum, shape=3):
    """Component or constant of a coordinate; the codes 6 and 7 are 0 too."""

    X = 0
    Y = 1
    Z = 2
    W = 3
    ZERO = 4
    ONE = 5


class Multiplex(enum.Enum, shape=3):
    """MUX_CNTL: result of a read of the data share: the four dwords of a row, a permutation of them, or one dword."""

    NONE = 0
    FFT_PERMUTE = 1
    WORD_SELECT = 2


class FetchFormat(enum.Enum, shape=6):
    """DATA_FORMAT of vertex fetches and memory reads: elements that the machine reads, integers and floats."""

    INT32_1 = 13
    FLOAT32_1 = 14
    INT32_2 = 29
    FLOAT32_2 = 30
    INT32_4 = 34
    FLOAT32_4 = 35
    INT32_3 = 47
    FLOAT32_3 = 48


class FetchType(enum.Enum, shape=2):
    """FETCH_TYPE: offset that is added to the index."""

    VERTEX_DATA = 0
    INSTANCE_DATA = 1
    """The first instance."""
    NO_INDEX_OFFSET = 2


RING_BUFFERS = (17, 159)
"""BUFFER_ID of the ring that a geometry or copy program reads: Mesa's, and that of AMD's compiler."""
VERTEX_FORMATS = {
    1: (1, 8, False), 5: (1, 16, False), 6: (1, 16, True), 7: (2, 8, False), 13: (1, 32, False), 14: (1, 32, True),
    15: (2, 16, False), 16: (2, 16, True), 26: (4, 8, False), 29: (2, 32, False), 30: (2, 32, True),
    31: (4, 16, False), 32: (4, 16, True), 34: (4, 32, False), 35: (4, 32, True), 44: (3, 8, False),
    45: (3, 16, False), 46: (3, 16, True), 47: (3, 32, False), 48: (3, 32, True),
}  # fmt: skip
"""DATA_FORMAT of vertex buffers -> channels, their bits, and whether they are floats."""


def _select(prefix: str) -> dict[str, type[enum.Enum]]:
    return {f"{prefix}_{component}": ComponentSelect for component in "xyzw"}


_FORMAT = {"data_format": 6, "num_format_all": 2, "format_comp_all": 1, "srf_mode_all": 1}

VTX_DWORD0 = data.StructLayout(
    {
        "vtx_inst": VertexOperation,
        "fetch_type": 2,
        "fetch_whole_quad": 1,
        "buffer_id": 8,
        "src_gpr": 7,
        "src_rel": 1,
        "src_sel_x": 2,
        "mega_fetch_count": 6,
    }
)
VTX_DWORD1 = data.StructLayout(
    {"dst_gpr": 7, "dst_rel": 1, "reserved": 1, **_select("dst_sel"), "use_const_fields": 1, **_FORMAT}
)
"""VTX_DWORD1_GPR."""
VTX_DWORD2 = data.StructLayout(
    {
        "offset": 16,
        "endian_swap": 2,
        "const_buf_no_stride": 1,
        "mega_fetch": 1,
        "alt_const": 1,
        "reserved": 11,
    }
)

TEX_DWORD0 = data.StructLayout(
    {
        "tex_inst": TextureOperation,
        "bc_frac_mode": 1,
        "reserved_low": 1,
        "fetch_whole_quad": 1,
        "resource_id": 8,
        "src_gpr": 7,
        "src_rel": 1,
        "alt_const": 1,
        "reserved_high": 7,
    }
)
TEX_DWORD1 = data.StructLayout(
    {
        "dst_gpr": 7,
        "dst_rel": 1,
        "reserved": 1,
        **_select("dst_sel"),
        "lod_bias": 7,
        **{f"coord_type_{component}": 1 for component in "xyzw"},
    }
)
"""`coord_type`: 1 = normalised."""
TEX_DWORD2 = data.StructLayout(
    {
        **{f"offset_{component}": 5 for component in "xyz"},
        "sampler_id": 5,
        **{f"src_sel_{component}": SourceSelect for component in "xyzw"},
    }
)
"""`offset`: signed, in half texels."""

MEM_RD_DWORD0 = data.StructLayout(
    {
        "mem_inst": 5,
        "elem_size": 2,
        "fetch_whole_quad": 1,
        "mem_op": MemoryOperation,
        "uncached": 1,
        "indexed": 1,
        "src_sel_y": 2,
        "reserved": 1,
        "src_gpr": 7,
        "src_rel": 1,
        "src_sel_x": 2,
        "burst_count": 4,
        "lds_req": 1,
        "coalesced_read": 1,
    }
)
MEM_RD_DWORD1 = data.StructLayout(
    {"dst_gpr": 7, "dst_rel": 1, "reserved_low": 1, **_select("dst_sel"), "reserved_high": 1, **_FORMAT}
)
MEM_RD_DWORD2 = data.StructLayout(
    {"array_base": 13, "reserved_low": 3, "endian_swap": 2, "reserved_high": 2, "array_size": 12}
)

MEM_DSW_DWORD0 = data.StructLayout(
    {
        "mem_inst": 5,
        "reserved": 3,
        "mem_op": MemoryOperation,
        "src_gpr": 7,
        "src_rel_mode": 2,
        **_select("src_sel"),
    }
)
MEM_DSW_DWORD1 = data.StructLayout(
    {
        "dst_index": 6,
        "dst_index_ext": 2,
        "reserved_low": 8,
        "dst_stride": 7,
        "dst_stride_ext": 2,
        "reserved_high": 6,
        "simd_wave_rel": 1,
    }
)
"""`dst_index_ext` and `dst_stride_ext` are the higher bits."""

MEM_DSR_DWORD0 = data.StructLayout(
    {
        "mem_inst": 5,
        "reserved": 3,
        "mem_op": MemoryOperation,
        "src_gpr": 7,
        "src_rel_mode": 2,
        "src_sel_x": 3,
        "src_sel_y": 3,
        "rd_offset": 6,
    }
)
MEM_DSR_DWORD1 = data.StructLayout(
    {
        "dst_gpr": 7,
        "dst_rel_mode": 2,
        **{f"dst_wr_{component}": 1 for component in "xyzw"},
        "reserved_low": 3,
        "broadcast": 1,
        "waterfall": 1,
        "reserved_middle": 2,
        "mux_cntl": Multiplex,
        "reserved_high": 9,
    }
)
MEM_DS_DWORD2 = data.StructLayout({"burst_count": 4, "reserved": 28})
"""Word 2 of a read or write of the data share."""

PADDING = data.StructLayout({"reserved": 32})
"""Word 3 of every fetch instruction."""

TEXTURE = (TEX_DWORD0, TEX_DWORD1, TEX_DWORD2, PADDING)
VERTEX = (VTX_DWORD0, VTX_DWORD1, VTX_DWORD2, PADDING)
MEMORY_READ = (MEM_RD_DWORD0, MEM_RD_DWORD1, MEM_RD_DWORD2, PADDING)
SHARE_WRITE = (MEM_DSW_DWORD0, MEM_DSW_DWORD1, MEM_DS_DWORD2, PADDING)
SHARE_READ = (MEM_DSR_DWORD0, MEM_DSR_DWORD1, MEM_DS_DWORD2, PADDING)
"""The four words of each form, word 0 first."""

FETCH = data.StructLayout({"inst": 5, "lower": 3, "mem_op": MemoryOperation, "upper": 21})
"""What word 0 of every form tells of the form."""
