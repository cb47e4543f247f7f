"""Scenes as work for a machine under cocotb."""

from dataclasses import replace
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import IndexFormat
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.elf import write
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.sim.runtime.draws import Draw, IndexArray, PixelInput, VertexArray, Viewport, pipeline
from ctm.sim.runtime.heap import LOCAL, SYSTEM
from ctm.tb.cosim.work import Desk, Work
from ctm.tb.draws.scene import CLEAR, Scene

_TEXTURED = """
.isa r700
.stage ps
MUL R1.x, R0.x, 4.0
MUL R1.y, R0.y, 4.0
FLT_TO_INT R1.x, R1.x
FLT_TO_INT R1.y, R1.y
LD R1.xyzw, R1.xy00, t0
MULADD R0.x, R1.x, R0.z, R1.y
EXPORT_DONE PIX0, R0
"""
_STRIP = np.array([0, 1, 2, 3, 4, 65535, 4, 5, 6, 7, 1], np.uint16)


def _vertices(seed: int, count: int) -> np.ndarray:
    """Positions over and beside the view, some of them beyond its near plane; and colours."""
    generator = np.random.default_rng(seed)
    position = np.column_stack([generator.uniform(-1.3, 1.3, (count, 3)), np.ones(count)])
    position[::5, 3] = 1.5
    return np.column_stack([position, generator.uniform(0, 1, (count, 4))]).astype(np.float32)


SCENES = {
    "overdraw": Scene(vertices=_vertices(1, 12), width=12, height=8, depth=ConditionalTest.LESS),
    "strip": Scene(
        vertices=_vertices(2, 8), indices=_STRIP, restart=65535, width=10, height=10, pixel=_TEXTURED,
        draw={"primitive": "TRISTRIP", "provoking": "first"}, inputs=(PixelInput(parameter=0, flat=True),),
    ),
    "points": Scene(
        vertices=_vertices(3, 6), width=12, height=8, inputs=(PixelInput(parameter=0, sprite=True),),
        draw={"primitive": "POINTLIST", "point_size": 3.5, "instances": 2}, linked={"points": True},
        depth=ConditionalTest.GREATER_EQUAL,
    ),
}  # fmt: skip


def scene_work(made: Scene) -> Work:
    """A draw into a target with a depth buffer, both of which memory holds at the end."""
    desk, values = Desk(), np.array(made.vertices, np.float32)
    layout = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4)
    single = replace(layout, format=DataFormat.FLOAT32_1)
    target = desk.image(layout, np.full((made.height, made.width, 4), CLEAR))
    depth = desk.image(single, np.full((made.height, made.width, 1), 0.5, np.float32), SYSTEM)
    texels = np.random.default_rng(4).uniform(0, 1, (made.height, made.width, 4)).astype(np.float32)
    texture = desk.image(layout, texels, SYSTEM)
    program = pipeline(
        vertex=made.vertex, pixel=made.pixel, inputs=made.inputs, depth=made.depth is not None, **made.linked
    )
    indices = None
    if made.indices is not None:
        indices = IndexArray(
            address=desk.place(made.indices.tobytes(), SYSTEM), format=IndexFormat.UINT16, restart=made.restart
        )
    fields: dict[str, Any] = {
        "primitive": "TRILIST", "count": len(values) if made.indices is None else made.indices.size,
        "viewport": Viewport.of(made.width, made.height), "indices": indices,
        "buffers": {0: VertexArray(address=desk.place(values.tobytes(), LOCAL), size=values.nbytes, stride=32)},
    }  # fmt: skip
    commands = CommandBuffer().set_inst_fmt(desk.place(write(program)))
    commands.set_inp_fmt(0, texture.base, layout.format_word, layout.height)
    commands.set_out_fmt(0, target.base, layout.format_word, layout.height)
    if made.depth is not None:
        commands.set_cond_out_fmt(depth.base, single.format_word, single.height).set_cond_out_mask(enable=True)
        commands.set_cond_test(made.depth).set_cond_loc(ConditionalLocation.DPP)
    commands.set_domain(0, 0, made.width - 1, made.height - 1)
    # The second draw finds the program loaded, and what the first one left.
    draw = Draw(**fields | made.draw)
    desk.submit(draw.append(draw.append(commands)).flush_out_cache().flush_cond_out_cache())
    return desk.work()
