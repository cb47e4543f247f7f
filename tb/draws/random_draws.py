"""Random draws: topology, formats, state and programs, for comparing engines and wavefronts."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.runtime.draws import PixelInput, Viewport
from ctm.tb.draws.geometry import COPY, with_geometry
from ctm.tb.draws.scene import PIXEL, Scene

FORMATS = ("FLOAT32_4", "FLOAT32_3", "FLOAT32_2", "FLOAT32_1", "26", "31", "15", "16", "32", "7", "5", "44", "46")
"""FORMAT of the second fetch: floats of 32 bits, and by number what only vertex buffers have."""
_SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e-40, 1e30, float("inf"), float("-inf"), float("nan"))
_PIXELS = (
    PIXEL,
    ".isa r700\n.stage ps\nMUL R1.x, R0.x, R0.y\nKILLGT ____.x, R1.x, 0.25\nEXPORT_DONE PIX0, R0.yxzw\n",
    ".isa r700\n.stage ps\nGET_GRADIENTS_H R1, R0, t0\nGET_GRADIENTS_V R2, R0, t0\nADD R0.x, R1.x, R2.y\n"
    "EXPORT_DONE PIX0, R0.xy_w\n",
    ".isa r700\n.stage ps\nMOV R3.x, 0\nLOOP\nADD R3.x, R3.x, 0.25\nADD R0.z, R0.z, R3.x\n"
    "BREAK IF PRED_SETGT R3.x, R0.x\nBREAK IF PRED_SETGT R3.x, 2.0\nENDLOOP\nEXPORT_DONE PIX0, R0\n",
    ".isa r700\n.stage ps\nIF PRED_SETGT R0.x, 0.5\nEXPORT PIX0, R0.wzyx\nELSE\nEXPORT PIX0, R0.01xy\nENDIF\nNOP\n",
)
_WITH_DEPTH = (".isa r700\n.stage ps\n.depth\nMUL R1.x, R0.x, 0.5\nEXPORT DEPTH, R1.x\nEXPORT_DONE PIX0, R0\n",)
_TESTS = (*ConditionalTest, ConditionalTest.LESS, ConditionalTest.LESS_EQUAL, None, None, None)
KINDS = ("TRILIST", "TRISTRIP", "TRIFAN", "TRILIST_ADJ", "TRISTRIP_ADJ", "POINTLIST")


def scene(seed: int) -> Scene:
    """A random draw."""
    generator = Random(seed)
    kind = generator.choice(KINDS)
    vertices = _vertices(generator, generator.randrange(3, 40))
    depth = generator.choice([None, *_TESTS])
    made = Scene(
        vertices=vertices, width=generator.randrange(1, 40), height=generator.randrange(1, 40), depth=depth,
        inputs=_inputs(generator), pixel=generator.choice(_PIXELS), draw=_state(generator, kind),
    )  # fmt: skip
    if depth is not None and generator.random() < 0.3:
        made = replace(made, pixel=generator.choice(_WITH_DEPTH))
    if generator.random() < 0.5:
        made = _indexed(generator, made)
    if generator.random() < 0.4:
        columns, rows = (sorted(generator.randrange(-20, 45) for _ in range(2)) for _ in range(2))
        made = replace(made, clip=(max(columns[0], 0), max(rows[0], 0), max(columns[1], 0), max(rows[1], 0)))
    viewport = Viewport.of(made.width, made.height)
    if generator.random() < 0.3:
        viewport = replace(viewport, x=(generator.uniform(-30, 30), 10.0), depth=(0.25, 0.75))
    made = replace(made, draw=made.draw | {"viewport": viewport})
    if generator.random() < 0.25:
        return _with_geometry(generator, made)
    linked: dict[str, Any] = {"points": kind == "POINTLIST"}
    if kind == "POINTLIST" and generator.random() < 0.5:
        made = replace(made, draw=made.draw | {"point_size": None})
        linked["point_size"] = True
    return replace(made, vertex=_vertex(generator, sized="point_size" in linked), linked=linked)


def _vertices(generator: Random, count: int) -> np.ndarray:
    reach = generator.choice([1.0, 1.0, 1.0, 1.5, 1.5, 4.0, 1000.0])
    found = np.array([[generator.uniform(-reach, reach) for _ in range(8)] for _ in range(count)], np.float32)
    found[:, 2] = [generator.uniform(-1, 1) for _ in range(count)]
    found[:, 3] = [generator.choice([1.0, 1.0, 1.0, 2.0, 0.5, 1.5, generator.uniform(-1, 3)]) for _ in range(count)]
    if generator.random() < 0.15:
        for _ in range(3):
            found[generator.randrange(count), generator.randrange(8)] = generator.choice(_SPECIAL)
    return found


def _inputs(generator: Random) -> list[PixelInput]:
    parameter = generator.choice([0, 0, 0, None])
    return [PixelInput(
        parameter=parameter, default=generator.randrange(4), flat=generator.random() < 0.3,
        linear=generator.random() < 0.3, sprite=generator.random() < 0.3,
    )]  # fmt: skip


def _state(generator: Random, kind: str) -> dict[str, Any]:
    return {
        "primitive": kind,
        "instances": generator.choice([1, 1, 1, 2, 3]),
        "provoking": generator.choice(["first", "last"]),
        "front": generator.choice(["clockwise", "counterclockwise"]),
        "cull": generator.choice(["none", "none", "none", "front", "back"]),
        "near": generator.choice(["minus_w", "zero", "off"]),
        "far": generator.random() < 0.8,
        "add": generator.random() < 0.2,
        "point_size": generator.choice([1.0, 2.5, 7.0, 20.0]),
        "first_instance": generator.randrange(3),
    }


def _indexed(generator: Random, made: Scene) -> Scene:
    count = len(made.vertices)
    restart = generator.choice([None, 0, count // 2, 65535])
    listed = [generator.randrange(count + generator.randrange(2)) for _ in range(generator.randrange(3, 60))]
    if restart is not None:
        listed = [restart if generator.random() < 0.1 else index for index in listed]
    indices = np.array(listed, generator.choice([np.uint16, np.uint32]))
    return replace(
        made, indices=indices, restart=restart, draw=made.draw | {"base_vertex": generator.choice([0, 0, 1, -1])}
    )


def _vertex(generator: Random, *, sized: bool) -> str:
    """A vertex program: its second fetch has any format, and any type of index."""
    numeric = generator.choice(["NORM", "INT", "SCALED"])
    signed = generator.choice(["", " SIGNED"])
    element = generator.choice(FORMATS)
    options = f"FORMAT({element}) NUM_FORMAT({numeric}){signed}" if element.isdigit() else f"FORMAT({element})"
    kind = generator.choice(["VERTEX_DATA", "INSTANCE_DATA", "NO_INDEX_OFFSET"])
    index = "R0.w" if kind == "INSTANCE_DATA" else "R0.x"
    size = "MUL R3.x, R0.x, 0x3f000000\nUINT_TO_FLT R3.x, R0.x\nEXPORT POS61, R3.x\n" if sized else ""
    return f"""
.isa r700
.stage vs
FETCH R1, R0.x, b160
FETCH R2, {index}, b160 OFFSET({4 * generator.randrange(5)}) {options} FETCH_TYPE({kind})
{size}EXPORT_DONE POS60, R1
EXPORT_DONE PARAM0, R2
"""


def _with_geometry(generator: Random, made: Scene) -> Scene:
    """The same with points that a geometry program makes strips or points of."""
    output = generator.choice([OutputPrimitive.TRISTRIP, OutputPrimitive.POINTLIST])
    vertices = np.array(made.vertices, np.float32)
    vertices[:, 4] = [generator.randrange(9) for _ in range(len(vertices))]
    streams = {0: (generator.randrange(1, 300), 4)} if generator.random() < 0.5 else {}
    copy = COPY
    if streams:
        copy = COPY.replace("EXPORT_DONE POS60", "MEM_STREAM0 R1.xyzw, [0] ELEM_SIZE(4)\nEXPORT_DONE POS60")
    geometry: dict[str, Any] = {
        "most": generator.randrange(1, 9), "output": output, "copy": copy, "pixel": made.pixel
    }  # fmt: skip
    return replace(
        made,
        vertices=vertices,
        program=with_geometry(**geometry),
        geometry=geometry,
        streams=streams,
        depth=None,
        draw=made.draw | {"primitive": "POINTLIST"},
    )
