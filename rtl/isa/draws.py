"""The commands of draws: what the command stream of an R700 machine has beside that of the CTM Guide.

A draw runs a vertex program for each vertex, a geometry program for each primitive where there is one, and a pixel
program for each pixel that a primitive covers. Source: docs/draws.md; registers of the RV770 are named with
the fields that replace them.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.commands import ADDRESS, COMMANDS, RESERVED, VALUE, Command
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS

VERTEX_BUFFERS = 16
STREAMS = 4
DRAW_OUTPUTS = 8
"""Targets that a pixel program of a draw can have."""


class PrimitiveType(enum.Enum, shape=5):
    """Primitive that vertices form, with the numbers of VGT_PRIMITIVE_TYPE."""

    POINTLIST = 1
    LINELIST = 2
    LINESTRIP = 3
    TRILIST = 4
    TRIFAN = 5
    TRISTRIP = 6
    LINELIST_ADJ = 10
    LINESTRIP_ADJ = 11
    TRILIST_ADJ = 12
    TRISTRIP_ADJ = 13
    RECTLIST = 17
    LINELOOP = 18
    QUADLIST = 19
    QUADSTRIP = 20
    POLYGON = 21


class IndexFormat(enum.Enum, shape=2):
    """Type of an element of the index buffer; NONE: there is no buffer, and indices count from 0."""

    NONE = 0
    UINT16 = 1
    UINT32 = 2


class Ring(enum.Enum, shape=1):
    """Memory that passes vertices from the vertex program to the geometry program, or from that to the copy program."""

    ES_GS = 0
    GS_VS = 1


LEAST_RING_ITEMS = 8
"""Items that a ring holds at least, even of small wavefronts: a primitive has up to six vertices."""

BYTE_ADDRESS = data.StructLayout({"address": ADDRESS_BITS})
"""A multiple of 4."""
VERTEX_BUFFER_INDEX = data.StructLayout({"index": 4, "reserved": 28})
INDEX_WORD = data.StructLayout({"format": IndexFormat, "reserved": 29, "restart": 1})
"""VGT_DMA_INDEX_TYPE, VGT_MULTI_PRIM_IB_RESET_EN."""
RING_INDEX = data.StructLayout({"ring": Ring, "reserved": 31})
STREAM_INDEX = data.StructLayout({"stream": 2, "reserved": 30})
FLOAT = data.StructLayout({"float": WORD_BITS})
RASTER = data.StructLayout(
    {
        "primitive": PrimitiveType,
        "provoking_last": 1,
        "front_clockwise": 1,
        "cull_front": 1,
        "cull_back": 1,
        "clip_zero": 1,
        "no_near": 1,
        "no_far": 1,
        "discard": 1,
        "program_point_size": 1,
        "add": 1,
        "reserved": 17,
    }
)
"""`provoking_last`, `front_clockwise`, `cull_*`: PA_SU_SC_MODE_CNTL. `clip_zero`: the near plane is z = 0, not z = -w;
`no_near`, `no_far`: z is not clipped there; `discard`: nothing is drawn (PA_CL_CLIP_CNTL). `program_point_size`: the
vertex program exports the size of points. `add`: targets become target + export (CB_BLEND_CONTROL ONE, ONE, ADD)."""
POINT_SIZE = data.StructLayout({"radius": 16, "reserved": 16})
"""PA_SU_POINT_SIZE: half the side of a point's square, in 1/16 pixel."""
POINT_STEPS = 8
"""Steps of the side of a point's square in a pixel."""
LARGEST_POINT = ((1 << POINT_SIZE["radius"].width) - 1) / POINT_STEPS
"""Pixels."""


def _command(opcode: int, name: str, unit: str, parameters: dict[str, data.StructLayout]) -> Command:
    word = 0xC000_0000 | len(parameters) - 1 << 16 | opcode << 8
    return Command(word=word, name=name, unit=unit, parameters=parameters, pipelined=False)


DRAW_COMMANDS = (
    _command(0x1D, "set_vtx_fmt", "MC", {
        "buffer": VERTEX_BUFFER_INDEX, "address": BYTE_ADDRESS, "bytes": VALUE, "stride": VALUE,
    }),
    _command(0x1E, "set_idx_fmt", "PE", {"address": BYTE_ADDRESS, "index_format": INDEX_WORD, "restart": VALUE}),
    _command(0x1F, "set_ring_fmt", "MC", {"ring": RING_INDEX, "ring_base": ADDRESS, "dwords": VALUE}),
    _command(0x20, "set_strm_fmt", "MC", {
        "stream": STREAM_INDEX, "stream_base": ADDRESS, "dwords": VALUE, "stride": VALUE,
    }),
    _command(0x21, "set_vport", "PE", {
        "x_scale": FLOAT, "x_offset": FLOAT, "y_scale": FLOAT, "y_offset": FLOAT,
    }),
    _command(0x22, "set_vport_z", "PE", {"z_scale": FLOAT, "z_offset": FLOAT, "z_min": FLOAT, "z_max": FLOAT}),
    _command(0x23, "set_raster", "PE", {"raster": RASTER, "point_size": POINT_SIZE}),
    _command(0x24, "start_draw", "PE", {
        "count": VALUE, "instances": VALUE, "base_vertex": VALUE, "first_instance": VALUE,
    }),
    _command(0x25, "read_strm", "PE", {"stream": STREAM_INDEX, "address": BYTE_ADDRESS}),
    _command(0x26, "inv_vtx_cache", "MC", {"reserved": RESERVED}),
)  # fmt: skip
"""Every command of draws, in the order of their codes."""

ALL_BY_WORD = {word: command for command in (*COMMANDS, *DRAW_COMMANDS) for word in command.words}
ALL_BY_NAME = {command.name: command for command in (*COMMANDS, *DRAW_COMMANDS)}
