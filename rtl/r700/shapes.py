"""Shapes of the array's fields that the R700 instruction set determines."""

from amaranth.lib import data, enum

from ctm.rtl.border.buffers import LIMIT_BITS, LIMITS, STRIDE_BITS
from ctm.rtl.border.draws import POSITION_VECTORS
from ctm.rtl.border.lines import TaggedLineClient
from ctm.rtl.border.shading import DWORD_BITS, ITEM_BITS, STREAM, Stage
from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.shapes import Port, RegisterField, Shapes
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import ADDRESS_BITS, CHANNELS, COORDINATE_BITS, WORD_BITS
from ctm.rtl.isa.r700.limits import LDS_BANK_DWORDS, LDS_ROW, READ_CYCLES
from ctm.rtl.isa.r700.program import FAULT_PC, MEMORY_OUTPUT, PROGRAM_FORMAT, SCRATCH_OUTPUT, ProgramType

UNIT_ADDRESS_BITS = PROGRAM_FORMAT.most_units.bit_length()
"""Width of the address of a unit of code: one bit more than needed, so that it can be after the last unit."""
CF_ADDRESS_BITS = FAULT_PC["word"].width + 1
"""Width of a CF instruction's address in control flow: a fault's bits, and one for an address beyond these."""
SHARE_BITS = (LDS_BANK_DWORDS // LDS_ROW).bit_length()
"""Width of a number of rows of the local data share."""
AREA_WORD_BITS = 2 * COORDINATE_BITS
"""Width of a word's number in an area, and of a pixel's in a domain."""
TEXTURE_BASE_BITS = 9
"""One bit more than RESOURCE_ID has: no RESOURCE_ID reaches a base beyond all of them."""


_DOMAIN = data.StructLayout({"i0": COORDINATE_BITS, "j0": COORDINATE_BITS, "width": LIMIT_BITS, "height": LIMIT_BITS})
_AREA = data.StructLayout({"limits": LIMITS, "stride": STRIDE_BITS})
_DRAW = data.StructLayout(
    {
        "has_fetch": 1,
        "fetch_start": UNIT_ADDRESS_BITS,
        "constant_base": 4,
        "first_buffer": 8,
        "vectors": POSITION_VECTORS - 1,
        "first_instance": WORD_BITS,
        "instance": WORD_BITS,
        "lowest_depth": WORD_BITS,
        "highest_depth": WORD_BITS,
        "has_geometry": 1,
        "ring": data.StructLayout({"dword": DWORD_BITS, "item": ITEM_BITS}),
        "streams": data.ArrayLayout(STREAM, STREAMS),
    }
)
"""What a draw's programs have beside others; `vectors`: which position vectors follow the position; `ring`: the one
that the program writes, and the dwords of an item."""
AREAS = MEMORY_OUTPUT, SCRATCH_OUTPUT
"""Outputs that are areas, by their numbers."""

CODE_LINE_CLIENT = TaggedLineClient(range(2))
"""A core's code cache: a line of code lies in one line of memory or in two, which the tag distinguishes."""


class Unit(enum.Enum, shape=2):
    """Execution units: FLOW executes CF instructions, ALU the groups of its clauses, FETCH fetches and exports."""

    FLOW = 0
    ALU = 1
    FETCH = 2


def _nothing(lanes: int) -> data.StructLayout:
    return data.StructLayout({})


SHAPES = Shapes(
    program_format=PROGRAM_FORMAT,
    ports=(Port(name="FC", defers=True), Port(name="ALU"), Port(name="TEX", fetches=True)),
    counted=Unit.ALU.value,
    faulting=Unit.FLOW.value,
    resources=(),
    register_fields=tuple(
        RegisterField(name=name, channels=range(channel, channel + 1)) for channel, name in enumerate("xyzw")
    ),
    operands=READ_CYCLES,
    code=CODE_LINE_CLIENT,
    flags=_nothing,
    control=_nothing,
    stacks=_nothing,
    first_control=lambda lanes: {},
    # `code` is where the code begins, a multiple of 4; `gprs` are the registers without clause temporaries, `stack` the
    # subentries that a wavefront may have, `share` its rows of each bank of the local data share.
    program={
        "code": ADDRESS_BITS,
        "type": ProgramType,
        "gprs": 8,
        "stack": 9,
        "share": SHARE_BITS,
        "dx10_clamp": 1,
        "memory": 1,
        "scratch": 1,
        "texture_base": TEXTURE_BASE_BITS,
        "domain": _DOMAIN,
        "areas": data.ArrayLayout(_AREA, len(AREAS)),
        "stage": Stage,
        "draw": _DRAW,
    },
    fetches_in_beats=False,
    areas=AREAS,
)
PROGRAM = program_layout(SHAPES)
assert len(SHAPES.register_fields) == CHANNELS
