"""Instruction sets that the array's fields are tested for: the real one, and an invented one."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.dpp.shapes import Port, RegisterField, Resource, Shapes
from ctm.rtl.isa.executable import NoteType, ProgramFormat
from ctm.rtl.r5xx import shapes as r5xx

INVENTED = Shapes(
    program_format=ProgramFormat(
        machine=99, information=NoteType.INPUTS, version=7, unit_bytes=8, most_units=3000, image_limit=1 << 17
    ),
    ports=(
        Port(name="JUMP", defers=True), Port(name="FETCH", fetches=True), Port(name="SUM"), Port(name="EXPORT"),
        Port(name="GATHER", fetches=True),
    ),
    counted=2,
    faulting=3,
    resources=(
        Resource(name="bus", is_request=True), Resource(name="adder", is_request=False),
        Resource(name="door", is_request=True),
    ),
    register_fields=tuple(
        RegisterField(name=name, channels=range(number, number + 1)) for number, name in enumerate("xyzw")
    ),
    operands=1,
    code=wiring.Signature({"line": Out(stream.Signature(9)), "bits": In(stream.Signature(512))}),
    flags=lambda lanes: data.StructLayout({"carry": lanes, "address": data.ArrayLayout(9, lanes)}),
    control=lambda lanes: data.StructLayout({"depth": 6, "executing": lanes, "loop": 7}),
    stacks=lambda lanes: data.StructLayout({"masks": data.ArrayLayout(lanes, 5)}),
    first_control=lambda lanes: {"depth": 1, "executing": (1 << lanes) - 1},
    program={"clauses": 12},
)  # fmt: skip
SHAPES = {"r5xx": r5xx.SHAPES, "invented": INVENTED}
"""By name, for parametrised tests."""
