"""Shapes of the array's fields that the R5xx instruction set determines."""

from amaranth.lib import enum

from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.shapes import Port, RegisterField, Resource, Shapes
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES, SCALAR, SLOT_BITS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.rtl.r5xx.instruction_client import InstructionClient
from ctm.rtl.r5xx.state import flags_layout, stacks_layout, steering_layout


class Unit(enum.Enum, shape=2):
    """The issue port that takes an instruction. FLOW also takes what is to fault."""

    ALU = 0
    TEXTURE = 1
    FLOW = 2


SHAPES = Shapes(
    program_format=PROGRAM_FORMAT,
    ports=(Port(name="ALU"), Port(name="TEX", fetches=True), Port(name="FC", defers=True)),
    counted=Unit.ALU.value,
    faulting=Unit.FLOW.value,
    # The lanes' entry, taken by instructions after the presubtract units; a buffer of an uncached write.
    resources=(Resource(name="direct", is_request=False), Resource(name="writes", is_request=True)),
    register_fields=(
        RegisterField(name="rgb", channels=range(SCALAR)),
        RegisterField(name="alpha", channels=range(SCALAR, SCALAR + 1)),
    ),
    operands=ALU_SOURCES,
    code=InstructionClient(),
    flags=flags_layout,
    control=steering_layout,
    stacks=stacks_layout,
    first_control=lambda lanes: {"active": (1 << lanes) - 1},
    # `end` is the PC after which a wavefront ends, `code_offset` is added to targets; both PCs are absolute.
    program={
        "end": PROGRAM_FORMAT.pc_bits,
        "code_offset": SLOT_BITS,
        "zero_times_anything": 1,
        "full_flow_control": 1,
    },
)
PROGRAM = program_layout(SHAPES)
SUMMARY = SHAPES.summary
