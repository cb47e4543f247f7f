"""R700 draws for drawn work: random scenes, whose vertices may lie where other work writes.

Source: docs/draws.md.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from ctm.rtl.config import DRAW_PRESET, PRESETS
from ctm.rtl.isa.draws import ALL_BY_WORD, LEAST_RING_ITEMS, IndexFormat, Ring
from ctm.rtl.isa.limits import BASE_ALIGNMENT
from ctm.rtl.vgt.batch_builder import REUSED
from ctm.sim.elf import write
from ctm.sim.golden.draw.state import DrawState, Raster, Start
from ctm.sim.golden.draw.vertices import assemble
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer
from ctm.sim.runtime.draws import Draw, IndexArray, StreamTarget, VertexArray, Viewport, pipeline
from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.scene import Scene
from ctm.tb.soak import r700
from ctm.tb.soak.programs import Drawn, Executables, Source
from ctm.tb.soak.regions import Region, Space

_DRAWS = 0.7
"""The share of programs that are a draw's."""
_VERTICES = PRESETS[DRAW_PRESET].pipeline.vertices
_LEAST_ITEMS = max(PRESETS[DRAW_PRESET].array.wavefront_lanes, LEAST_RING_ITEMS)
_HEAD = ".isa r700\n.stage ps\n"
_PAIR = """
MUL R1.x, R0.x, 8.0
MUL R1.y, R0.y, 8.0
FLT_TO_INT R1.x, R1.x
FLT_TO_INT R1.y, R1.y
LD R2.xyzw, R1.xy00, t0
"""
_PIXELS = (
    f"{_HEAD}{_PAIR}LD R3.xyzw, R1.yx00, t1\nMULADD R2.x, R2.x, C0.x, R3.y\n"
    "EXPORT PIX0, R2\nEXPORT_DONE PIX1, R3.wz_x\n",
    f"{_HEAD}{_PAIR}EXPORT PIX0, R0\nEXPORT PIX1, R2.__xy\nEXPORT PIX2, R2.wzyx\nEXPORT_DONE PIX3, R0.x1_0\n",
    f"{_HEAD}.depth{_PAIR}KILLGT ____.x, R2.x, C1.x\nADD R0.x, R0.x, C0.y\nEXPORT DEPTH, R2.y\nEXPORT_DONE PIX0, R0\n",
)
"""Pixel programs that read inputs and constants, beside those of random scenes."""
_CONSTANTS = "MULADD R2.x, R2.x, C0.x, C1.y\nADD R2.w, R2.w, C2.z\nEXPORT_DONE POS60, R1\n"


def _scene(seed: int) -> Scene:
    """A random scene; one without a geometry program may have other vertex and pixel programs."""
    generator = Random(seed)
    made = scene(generator.getrandbits(30))
    if made.program is not None:
        return made
    if generator.random() < 0.3:
        made = replace(made, pixel=generator.choice(_PIXELS))
    if generator.random() < 0.3:
        made = replace(made, vertex=made.vertex.replace("EXPORT_DONE POS60, R1\n", _CONSTANTS))
    if generator.random() < 0.05:
        made = replace(made, draw=made.draw | {"discard": True})
    return made


def batches(made: Scene) -> tuple[int, int, int]:
    """The batches of a scene in hardware, the vertices that they shade, and those of the golden model.

    Source: docs/design/draws.md, vertices.
    """
    draw, memory, state = _draw(made, 0, 0, 0, {}), Memory(), DrawState()
    if made.indices is not None:
        memory.write(0, made.indices.tobytes())
        state.index_format, state.restart = _index_format(made), made.restart
    assert not isinstance(draw.primitive, str)
    state.raster = Raster(primitive=draw.primitive.value, provoking_last=draw.provoking == "last")
    start = Start(count=draw.count, instances=1, base_vertex=draw.base_vertex, first_instance=0)
    assembly = assemble(memory, state, start, by_primitive=False)
    shaded, found, used, known = 0, 1, 0, deque[int](maxlen=REUSED)
    for corners in assembly.corners:
        if used and used + len(corners) > _VERTICES:
            found, used = found + 1, 0
            known.clear()
        for corner in map(int, corners):
            if corner not in known:
                known.append(corner)
                used, shaded = used + 1, shaded + 1
    return found * draw.instances, shaded * draw.instances, assembly.index.size * draw.instances


def _index_format(made: Scene) -> IndexFormat:
    assert made.indices is not None
    return IndexFormat.UINT16 if made.indices.dtype == np.uint16 else IndexFormat.UINT32


def _draw(made: Scene, vertices: int, size: int, indices: int, streams: Mapping[int, StreamTarget]) -> Draw:
    """The draw of a scene with vertices and indices at these addresses."""
    listed = None
    count = len(made.vertices)
    if made.indices is not None:
        listed = IndexArray(address=indices, format=_index_format(made), restart=made.restart)
        count = made.indices.size
    buffers = {0: VertexArray(address=vertices, size=size, stride=32)}
    fields: dict[str, Any] = {
        "count": count, "buffers": buffers, "indices": listed, "viewport": Viewport.of(made.width, made.height),
        "streams": streams,
    }  # fmt: skip
    return Draw(**fields | made.draw)


def draw_program(generator: np.random.Generator) -> Executables:
    """A draw's programs, or one of a domain."""
    if generator.random() > _DRAWS:
        return r700.draw_program(generator)
    made = _scene(int(generator.integers(1 << 30)))
    if made.program is not None:
        return Executables(write(made.program), short=False, scene=made, one_batch=False, counted=False)
    found, shaded, wanted = batches(made)
    executable = pipeline(
        vertex=made.vertex, pixel=made.pixel, inputs=made.inputs, depth=made.depth is not None, **made.linked
    )
    return Executables(
        write(executable), short=False, scene=made, one_batch=found == 1, counted=found == 1 and shaded == wanted
    )


def scene_commands(
    generator: np.random.Generator, space: Space, program: Executables, others: Sequence[Region]
) -> Drawn:
    """The commands of a draw. Its vertices are in a region of their own, or now and then in one of `others`."""
    made = program.scene
    assert made is not None
    vertices = np.array(made.vertices, np.float32)
    of_others = frozenset[Region]()
    if others and generator.random() < 0.3:
        region = others[int(generator.integers(len(others)))]
        of_others = frozenset({region})
    else:
        region = space.place(vertices.tobytes())
    indices = 0
    if made.indices is not None:
        offset = made.indices.itemsize * int(generator.integers(33)) // 4 * 4
        indices = space.place(bytes(offset) + made.indices.tobytes()).base + offset
    size = vertices.nbytes if generator.random() < 0.8 else int(generator.integers(vertices.nbytes))
    streams = {
        number: StreamTarget(base=space.place(bytes(4 * dwords)).base, dwords=dwords, stride=stride)
        for number, (dwords, stride) in made.streams.items()
    }
    commands = CommandBuffer()
    rings = _allocate_rings(generator, space, made, commands)
    _draw(made, region.base, size, indices, streams).append(commands)
    for number in streams:
        commands.read_strm(number, space.place(bytes(4)).base)
    x0, y0, x1, y1 = made.clip or (0, 0, made.width - 1, made.height - 1)
    return Drawn(commands=_split(commands.words), vertices=of_others, domain=[x0, y0, x1, y1], undefined=rings)


def _allocate_rings(generator: np.random.Generator, space: Space, made: Scene, commands: CommandBuffer) -> list[Region]:
    """Rings of a geometry program, from the smallest that a draw may have to one for all threads of a batch."""
    programs = made.program.pipeline if made.program is not None else None
    if programs is None or programs.geometry is None:
        return []
    found = []
    for ring, item in ((Ring.ES_GS, programs.vertex_item), (Ring.GS_VS, programs.geometry_item)):
        dwords = item * int(generator.integers(_LEAST_ITEMS, _VERTICES + 1))
        found.append(space.region(-(-4 * dwords // BASE_ALIGNMENT) * BASE_ALIGNMENT))
        commands.set_ring_fmt(ring, found[-1].base, dwords)
    return found


def _split(words: list[int]) -> list[list[int]]:
    """Words by their commands."""
    found = []
    while words:
        size = 1 + len(ALL_BY_WORD[words[0]].parameters)
        found.append(words[:size])
        words = words[size:]
    return found


R700_DRAWS = Source(kind="r700", draw=draw_program, inputs=r700.R700.inputs, linear=True, draw_scene=scene_commands)
