"""Small draws of the tests: a vertex program that passes positions and one vector on, and what it leaves."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import Ring
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.engines.seen import Watching
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.sim.runtime.draws import Draw, IndexArray, PixelInput, StreamTarget, VertexArray, Viewport, pipeline
from ctm.sim.runtime.draws.draw import place_rings
from ctm.tb.lib.machines import machine

Array = npt.NDArray[Any]
CLEAR = np.float32(-777)
HARDWARE = ("rtl", "amaranth")

VERTEX = """
.isa r700
.stage vs
FETCH R1, R0.x, b160
FETCH R2, R0.x, b160 OFFSET(16)
EXPORT_DONE POS60, R1
EXPORT_DONE PARAM0, R2
"""
PIXEL = """
.isa r700
.stage ps
EXPORT_DONE PIX0, R0
"""
SMOOTH = (PixelInput(parameter=0),)
FLAT = (PixelInput(parameter=0, flat=True),)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A draw over a target of `width` x `height`, filled with CLEAR before.

    `vertices` are floats [n, 8]: position and one vector. `clip` is what is drawn in, by default everything. With
    `depth` there is a depth buffer, which begins as 1.
    """

    vertices: Sequence[Sequence[float]] | Array
    indices: Array | None = None
    restart: int | None = None
    width: int = 32
    height: int = 32
    clip: tuple[int, int, int, int] | None = None
    inputs: Sequence[PixelInput] = SMOOTH
    vertex: str = VERTEX
    pixel: str = PIXEL
    program: Executable | None = None
    geometry: dict[str, Any] = field(default_factory=dict)
    """Arguments of `with_geometry` that `program` was made with, where they are known."""
    count: int | None = None
    depth: ConditionalTest | None = None
    location: ConditionalLocation = ConditionalLocation.DPP
    """Where depth is tested."""
    depth_format: DataFormat = DataFormat.FLOAT32_1
    written_as: DataFormat | None = None
    """The format that outputs have, if it is not that of the target."""
    streams: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Words of each stream, and of a vertex in it."""
    size: int | None = None
    """Bytes of the vertex buffer, if it is not to be all."""
    draw: dict[str, Any] = field(default_factory=dict)
    """Fields of `Draw` that are not the usual ones."""
    rings: dict[Ring, int] = field(default_factory=dict)
    """Dwords of rings that are not to be large enough."""
    linked: dict[str, Any] = field(default_factory=dict)
    """Arguments of `pipeline` that are not the usual ones."""


@dataclass(frozen=True)
class Drawn:
    """What a scene left: target [height, width, 4] and depth [height, width]."""

    target: Array
    depth: Array
    streams: list[Array]
    """What each stream's buffer holds, floats; CLEAR before."""
    device: Device

    @property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Pixels that were written, [height, width]."""
        found: npt.NDArray[np.bool_] = (self.target != CLEAR).any(axis=-1)
        return found


def commands_of(
    scene: Scene, device: Device, target: int, depth: int, layout: Layout, placed: list[tuple[int, int]]
) -> CommandBuffer:
    """All commands of a scene; where its streams are, and their words, is added to `placed`."""
    vertices = np.array(scene.vertices, np.float32).reshape(-1, 8)
    buffer = VertexArray.of(device, vertices) if len(vertices) else VertexArray(address=0, size=0, stride=32)
    if scene.size is not None:
        buffer = replace(buffer, size=scene.size)
    indices = None
    if scene.indices is not None:
        indices = IndexArray.of(device, scene.indices, restart=scene.restart)
    program = scene.program or pipeline(
        vertex=scene.vertex, pixel=scene.pixel, inputs=scene.inputs, depth=scene.depth is not None, **scene.linked
    )
    count = len(vertices) if scene.indices is None else scene.indices.size
    streams = {}
    for number, (words, stride) in scene.streams.items():
        base = device.place(np.full(words, CLEAR).tobytes())
        streams[number] = StreamTarget(base=base, dwords=words, stride=stride)
    placed.extend((stream.base, stream.dwords) for stream in streams.values())
    fields: dict[str, Any] = {
        "primitive": "TRILIST", "viewport": Viewport.of(scene.width, scene.height),
        "count": count if scene.count is None else scene.count, "buffers": {0: buffer}, "indices": indices,
        "streams": streams,
    }  # fmt: skip
    draw = Draw(**fields | scene.draw)
    commands = CommandBuffer().set_inst_fmt(device.place(program)).inv_inst_cache()
    assert program.pipeline is not None
    place_rings(device, program.pipeline, commands)
    for ring, dwords in scene.rings.items():
        commands.set_ring_fmt(ring, device.allocate(4 * dwords), dwords)
    written = replace(layout, format=scene.written_as or layout.format)
    commands.set_out_fmt(0, target, written.format_word, layout.height)
    if scene.depth is not None:
        flat = replace(layout, format=scene.depth_format)
        commands.set_cond_out_fmt(depth, flat.format_word, flat.height).set_cond_out_mask(enable=True)
        commands.set_cond_test(scene.depth).set_cond_loc(scene.location)
    i0, j0, i1, j1 = scene.clip or (0, 0, scene.width - 1, scene.height - 1)
    return draw.append(commands.set_domain(i0, j0, i1, j1)).flush_out_cache().flush_cond_out_cache().wait_for_idle()


def drawn(
    scene: Scene,
    engine: str = "golden",
    *,
    wavefront: int = 16,
    watchdog: int = 1 << 20,
    watch: Watching | None = None,
    latency: int = 50,
) -> Drawn:
    """Draw a scene.

    Raises
    ------
    MachineError
    """
    config = machine("draws") if engine in HARDWARE else PRESETS["r700"]
    config = replace(config, memory=replace(config.memory, latency=latency))
    device = Device(
        engine, replace(config, array=config.array.with_wavefront(wavefront)), watchdog=watchdog, watch=watch
    )
    return drawn_on(scene, device)


def drawn_on(scene: Scene, device: Device) -> Drawn:
    """Draw a scene on a device.

    Raises
    ------
    MachineError
    """
    layout = Layout(width=scene.width, height=scene.height, format=DataFormat.FLOAT32_4)
    target = device.image(layout, np.full((scene.height, scene.width, 4), CLEAR))
    first = np.ones((scene.height, scene.width), np.uint16 if scene.depth_format is DataFormat.UINT16_1 else np.float32)
    depth = device.image(replace(layout, format=scene.depth_format), first)
    placed: list[tuple[int, int]] = []
    device.run(commands_of(scene, device, target.base, depth.base, layout, placed))
    streams = [device.memory.words(base, words).view(np.float32).copy() for base, words in placed]
    return Drawn(target.read(), depth.read()[..., 0], streams, device)


def same_on_both(scene: Scene) -> Drawn:
    """Draw on golden and `fast`, which must leave the same bits."""
    golden, fast = drawn(scene), drawn(scene, "fast")
    assert golden.target.tobytes() == fast.target.tobytes() and golden.depth.tobytes() == fast.depth.tobytes()
    assert [each.tobytes() for each in golden.streams] == [each.tobytes() for each in fast.streams]
    assert golden.device.report().equal_counts == fast.device.report().equal_counts
    return golden
