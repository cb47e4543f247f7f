"""Geometry and copy programs of the tests, and draws with them."""

from typing import Any

from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.assembler import assemble
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.runtime.draws.interpolation import PixelInput, PixelInputs
from ctm.sim.runtime.draws.linking import Geometry, Linkable, VertexOutputs, link
from ctm.tb.draws.scene import PIXEL, VERTEX, Scene

ITEM = 8
"""Dwords of a vertex in both rings: position and one vector."""

VERTEX_TO_RING = """
.isa r700
.stage es
FETCH R1, R0.x, b160
FETCH R2, R0.x, b160 OFFSET(16)
MEM_RING R1.xyzw, [0] ELEM_SIZE(4)
MEM_RING R2.xyzw, [4] ELEM_SIZE(4)
NOP END_OF_PROGRAM
"""
COPY = """
.isa r700
.stage dc
FETCH R1, R0.x, b17
FETCH R2, R0.x, b17 OFFSET(16)
EXPORT_DONE POS60, R1
EXPORT_DONE PARAM0, R2
"""
STREAMED = COPY.replace("EXPORT_DONE POS60", "MEM_STREAM0 R1.xyzw, [0] ELEM_SIZE(4)\nEXPORT_DONE POS60")
VERTEX_STREAM = VERTEX.replace("EXPORT_DONE POS60", "MEM_STREAM0 R1.xyzw, [0] ELEM_SIZE(4)\nEXPORT_DONE POS60")
"""Copy and vertex programs that stream positions out."""
POINT_TO_TRIANGLES = """
.isa r700
.stage gs
; Of a point (x, y) with n in its vector: n corners around it, as a strip that is cut after the third one.
FETCH R2, R0.x, b17
FETCH R3, R0.x, b17 OFFSET(16)
MOV R4.x, 0                     ; number of the vertex
MOV R5.x, 0                     ; where it goes in the item
LOOP
    BREAK IF PRED_SETGE R4.x, R3.x
    MULADD_IEEE R6.x, R4.x, 0.1, R2.x
    AND_INT R7.x, R5.x, 8
    INT_TO_FLT R7.x, R7.x
    MULADD_IEEE R6.y, R7.x, 0.05, R2.y
    MOV R6.z, R2.z
    MOV R6.w, R2.w
    MEM_RING R6.xyzw, [0+R5] ELEM_SIZE(1)
    MEM_RING R3.xyzw, [4+R5] ELEM_SIZE(1)
    EMIT_VERTEX
    ADD R4.x, R4.x, 1.0
    ADD_INT R5.x, R5.x, 8
    IF PRED_SETE R4.x, 3.0
        CUT_VERTEX
    ENDIF
ENDLOOP
NOP END_OF_PROGRAM
"""


def linkable(source: str) -> Linkable:
    """One program of a draw, from its source."""
    assembled = assemble(source)
    assert isinstance(assembled, Executable)
    return Linkable.of(assembled)


def with_geometry(
    program: str = POINT_TO_TRIANGLES,
    *,
    most: int = 6,
    output: OutputPrimitive = OutputPrimitive.TRISTRIP,
    copy: str = COPY,
    pixel: str = PIXEL,
    depth: bool = False,
) -> Executable:
    """A draw's executable with a geometry program whose vertices have a position and one vector."""
    return link(
        vertex=linkable(VERTEX_TO_RING),
        geometry=Geometry(
            program=linkable(program), copy=linkable(copy), vertex_item=ITEM, item=ITEM * most, emitted_item=ITEM,
            most_emitted=most, output=output,
        ),
        pixel=linkable(pixel),
        inputs=PixelInputs(
            inputs=[PixelInput(parameter=0)], points=output is OutputPrimitive.POINTLIST, depth=depth
        ),
        outputs=VertexOutputs(),
    )  # fmt: skip


def point(x: float, y: float, corners: float) -> list[float]:
    """A vertex for `POINT_TO_TRIANGLES`, which makes a strip of `corners` vertices of it."""
    return [x, y, 0.0, 1.0, corners, 1.0, 1.0, 1.0]


def scene(points: list[list[float]], *, program: Any = None, draw: Any = None, **changed: Any) -> Scene:
    """A scene of points with a geometry program; `program` are arguments of `with_geometry`."""
    fields = {"primitive": "POINTLIST", **(draw or {})}
    return Scene(vertices=points, program=with_geometry(**program or {}), draw=fields, **changed)
