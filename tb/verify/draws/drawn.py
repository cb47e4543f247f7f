"""The sheet of a seed: a random draw of `ctm.tb.draws.random_draws`, and what those draws lack.

They lack clip and cull distances, rings of few items, several targets, streams of vertex programs, lines that are
discarded, edges through centres of pixels, and targets in other formats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.draws import STREAMS, Ring
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.golden.draw.topology import TOPOLOGIES
from ctm.sim.runtime.draws import Viewport
from ctm.tb.draws.geometry import COPY, ITEM, POINT_TO_TRIANGLES
from ctm.tb.draws.random_draws import KINDS, scene
from ctm.tb.draws.scene import Scene
from ctm.tb.verify.campaign import Case
from ctm.tb.verify.coverage.aims import aims
from ctm.tb.verify.draws.events import INDICES, PRIMITIVES, tables
from ctm.tb.verify.draws.sheet import sheet_of

_LATENCIES = (1, 20, 50, 200)
"""Of the memory, in cycles."""
_DISTURBANCES = ((0, 0.0), (0, 0.0), (20, 0.3), (7, 0.6))
"""Of the memory: jitter in cycles, and the share of cycles in which it stalls."""
_KINDS = tuple(kind.name for kind in TOPOLOGIES)
_LINES = tuple(name for name in _KINDS if name.startswith("LINE"))
_DISTANCES = (1, 2, 6, 0x18, 0x80, 0x21, 0xFF)
"""Masks of the eight distances that clip or cull."""
_FORMATS = (DataFormat.FLOAT32_1, DataFormat.FLOAT32_2, DataFormat.UINT8_4)
"""Of targets that are not written as FLOAT32_4."""
_STRIPS = (
    POINT_TO_TRIANGLES, POINT_TO_TRIANGLES, POINT_TO_TRIANGLES.replace("CUT_VERTEX", "NOP"),
    POINT_TO_TRIANGLES.replace("    EMIT_VERTEX", "    EMIT_CUT_VERTEX"),
)  # fmt: skip
"""Geometry programs: strips that are cut after the third vertex, that are not cut, that are cut after each."""
_TARGETS = 8
_RING_ITEMS = (4, 16, 17, 40)
"""How many items a small ring holds."""
_RINGS = (Ring.ES_GS, Ring.GS_VS)
SHARE = 4
"""Of so many sheets one is drawn for a cell of the table of primitives."""
_MANY_SHARE, _MANY = 0.02, 300
"""Of the other sheets, those with many vertices, and how many these have at least."""
_POSITION = "EXPORT_DONE POS60"
"""How the export begins that other exports and streams are put in front of."""
_FREE_POSITION, _SIZE = 61, "POS61"
"""The first export beside the position, and its name where the program exports a point's size in it."""


def sheet(seed: int) -> Case:
    """The sheet of a seed, the same at each call."""
    generator = Random(seed)
    number, kind = divmod(seed, SHARE)
    cell = aims(tables()[PRIMITIVES], number, 1)[0].split(" / ") if kind == SHARE - 1 else None
    made = _drawn(generator, cell)
    note: dict[str, Any] = {}
    if made.program is None:
        made, note = _without_geometry(generator, made)
    else:
        made = _with_geometry(generator, made)
    if generator.random() < 0.3:
        made = replace(made, vertices=_at_centres(generator, made))
    if generator.random() < 0.1:
        note = {**note, "primitive_number": True}
    made = _with_state(generator, made)
    if cell is not None:
        made = _aimed(generator, made, cell)
    elif generator.random() < _MANY_SHARE:
        made = _of_many(made)
    targets = 1
    if made.program is None and "PIX0, R0" in made.pixel and generator.random() < 0.25:
        targets = generator.randrange(2, _TARGETS + 1)
        made = replace(made, pixel=_to_targets(made.pixel, targets))
    memory = [generator.choice(_LATENCIES), *generator.choice(_DISTURBANCES)]
    return sheet_of(made, seed=seed, note=note, targets=targets, memory=memory)


def _drawn(generator: Random, cell: Sequence[str] | None) -> Scene:
    """A random draw: of a geometry program, or of pixels alone, as the cell of its primitives says."""
    while True:
        made = scene(generator.getrandbits(30))
        if cell is None:
            return made
        kind, stage, _ = cell
        if stage == "geometry":
            is_wanted = made.program is not None
        else:
            # The program of a point's vertices may export its size.
            drawn = kind if kind in KINDS else "TRILIST"
            is_wanted = made.program is None and made.draw["primitive"] == drawn
        if is_wanted:
            return made


def _aimed(generator: Random, made: Scene, cell: Sequence[str]) -> Scene:
    """The same with a cell's kind of primitive and of indices; what the machine does not draw is discarded."""
    kind, stage, listed = cell
    draw = made.draw | {"primitive": kind}
    if stage == "pixels" and kind not in KINDS:
        made, draw = _streamed(generator, made) if not made.streams else made, draw | {"discard": True}
    if listed == INDICES[0]:
        return replace(made, indices=None, restart=None, draw=draw | {"base_vertex": 0})
    count = len(made.vertices)
    indices = [generator.randrange(count) for _ in range(generator.randrange(12, 60))]
    restart = None
    if listed == INDICES[3]:
        restart = generator.choice([0, count // 2, 65535])
        indices[generator.randrange(len(indices))] = restart
    size = {"uint16": np.uint16, "uint32": np.uint32}.get(listed, generator.choice([np.uint16, np.uint32]))
    return replace(made, indices=np.array(indices, size), restart=restart, draw=draw)


def _of_many(made: Scene) -> Scene:
    """The same with more vertices than the input cache of a core holds, and twice."""
    copies = -(-_MANY // len(made.vertices))
    return replace(
        made, vertices=np.tile(np.array(made.vertices, np.float32), (copies, 1)), indices=None, restart=None,
        draw=made.draw | {"instances": 2, "base_vertex": 0},
    )  # fmt: skip


def _with_state(generator: Random, made: Scene) -> Scene:
    """The same with formats of depth and target, a short vertex buffer, culling and a viewport that are others."""
    if made.depth is not None and generator.random() < 0.4:
        made = replace(made, depth_format=DataFormat.UINT16_1)
    if generator.random() < 0.2:
        made = replace(made, written_as=generator.choice(_FORMATS))
    if generator.random() < 0.1:
        made = replace(made, size=generator.randrange(32 * len(made.vertices)))
    if generator.random() < 0.15:
        made = replace(made, draw=made.draw | {"cull": generator.choice(["front", "back", "both"])})
    if generator.random() < 0.15:
        made = replace(made, draw=made.draw | {"viewport": _turned(made.draw["viewport"])})
    return made


def _at_centres(generator: Random, made: Scene) -> np.ndarray:
    """Its vertices, [n, 8], moved to centres of pixels, so that edges lead through such."""
    found = np.array(made.vertices, np.float32)
    for axis, size in enumerate((made.width, made.height)):
        found[:, axis] = [(2 * generator.randrange(-1, size + 1) + 1) / size - 1 for _ in found]
    found[:, 3] = 1
    return found


def _turned(viewport: Viewport) -> Viewport:
    """The same upside down."""
    scale, offset = viewport.y
    return replace(viewport, y=(-scale, offset))


def _to_targets(pixel: str, targets: int) -> str:
    """A pixel program that exports to so many targets, to each of them the channels in another order."""
    orders = ("xyzw", "yxzw", "wzyx", "x_zw", "xy01", "zzzz", "__xy", "wxyz")
    more = "".join(f"EXPORT PIX{target}, R0.{orders[target]}\n" for target in range(1, targets))
    at = pixel.rindex("EXPORT")
    return pixel[:at] + more + pixel[at:]


def _without_geometry(generator: Random, made: Scene) -> tuple[Scene, dict[str, Any]]:
    """The same, now and then with distances, now and then with streams; and what the note says of distances."""
    note: dict[str, Any] = {}
    if generator.random() < 0.25:
        made, note = _with_distances(generator, made)
    if generator.random() < 0.2:
        made = _streamed(generator, made)
    return made, note


def _with_distances(generator: Random, made: Scene) -> tuple[Scene, dict[str, Any]]:
    """The same with distances that its vertex program exports, and what the pipeline's note says of them."""
    vectors = generator.choice([(True, False), (False, True), (True, True)])
    first = _FREE_POSITION + (_SIZE in made.vertex)
    # Not the w of the position: where it is negative, the triangle is out of view before a distance drops it.
    exports = "".join(
        f"EXPORT POS{first + number}, R{number + 1}.{order}\n"
        for number, order in enumerate(("xyzy", "yzxw")[: sum(vectors)])
    )
    note = {
        "clip_distances": generator.choice([0, *_DISTANCES]), "cull_distances": generator.choice([0, *_DISTANCES]),
        "distance_vectors": list(vectors),
    }  # fmt: skip
    return replace(made, vertex=made.vertex.replace(_POSITION, f"{exports}{_POSITION}")), note


def _streamed(generator: Random, made: Scene) -> Scene:
    """The same with one to four streams of its vertex program, and now and then of other primitives.

    Strides of 2 dwords lose half of what is written, those of 6 leave dwords between vertices. Lines are nearly always
    discarded: the machine does not draw them.
    """
    numbers = generator.sample(range(STREAMS), generator.choice([1, 1, 2, 4]))
    writes = "".join(f"MEM_STREAM{number} R{1 + number % 2}.xyzw, [0] ELEM_SIZE(4)\n" for number in numbers)
    streams = {number: (generator.randrange(400), generator.choice([4, 4, 4, 2, 6])) for number in numbers}
    draw = made.draw
    if generator.random() < 0.4:
        kind = generator.choice([*_LINES, "TRISTRIP_ADJ", "POINTLIST"])
        draw = draw | {"primitive": kind, "discard": generator.random() < 0.9}
    vertex = made.vertex.replace(_POSITION, f"{writes}{_POSITION}")
    return replace(made, vertex=vertex, streams=streams, draw=draw)


def _with_geometry(generator: Random, made: Scene) -> Scene:
    """The same of any kind of primitive, with other strips, and now and then with streams and with small rings."""
    output = made.geometry["output"]
    if generator.random() < 0.1:
        output = OutputPrimitive.LINESTRIP
    geometry = {**made.geometry, "program": generator.choice(_STRIPS), "output": output}
    draw = made.draw | {"primitive": generator.choice(_KINDS)}
    streams: Mapping[int, tuple[int, int]] = made.streams
    if output is OutputPrimitive.LINESTRIP:
        draw["discard"] = generator.random() < 0.8
    if generator.random() < 0.2:
        numbers = generator.sample(range(STREAMS), generator.choice([1, 2]))
        writes = "".join(f"MEM_STREAM{number} R2.xyzw, [0] ELEM_SIZE(4)\n" for number in numbers)
        geometry["copy"] = COPY.replace(_POSITION, f"{writes}{_POSITION}")
        streams = {number: (generator.randrange(200), 4) for number in numbers}
    if generator.random() < 0.5:
        made = replace(made, depth=generator.choice(list(ConditionalTest)))
    rings = {}
    if generator.random() < 0.4:
        sizes = ITEM, ITEM * made.geometry["most"]
        rings = {ring: size * generator.choice(_RING_ITEMS) for ring, size in zip(_RINGS, sizes, strict=True)}
    return replace(made, geometry=geometry, draw=draw, streams=dict(streams), rings=rings)
