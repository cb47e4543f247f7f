"""A draw: what it draws and how, as the commands that say so.

Source: docs/draws.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import IndexFormat, PrimitiveType, Ring
from ctm.rtl.isa.r700.limits import LARGEST_WAVEFRONT
from ctm.rtl.isa.r700.pipeline import Pipeline
from ctm.sim.golden.draw.topology import TOPOLOGIES
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Viewport:
    """Window coordinates are clip coordinates / w * scale + offset; each pair is (scale, offset).

    `depth` is the range that depth is clamped to.
    """

    x: Pair
    y: Pair
    z: Pair = (0.5, 0.5)
    depth: Pair = (0.0, 1.0)

    @staticmethod
    def of(width: int, height: int) -> "Viewport":
        """The viewport of a whole image: (-1, -1) is the corner of pixel (0, 0)."""
        return Viewport(x=(width / 2, width / 2), y=(height / 2, height / 2))


@dataclass(frozen=True, kw_only=True)
class VertexArray:
    """A vertex buffer in memory: address (a multiple of 4), bytes, and bytes from element to element."""

    address: int
    size: int
    stride: int

    @staticmethod
    def of(device: Device, values: npt.NDArray[Any]) -> "VertexArray":
        """A copy of an array, whose rows are the elements, in a device's memory.

        Raises
        ------
        ValueError
            It has no rows, or holds no numbers.
        """
        if not values.ndim or not values.size or values.dtype.hasobject:
            raise ValueError(f"vertices are an array of numbers with a row at least, not {values.dtype} {values.shape}")
        data = words_of(values)
        return VertexArray(address=device.place(data), size=values.nbytes, stride=values.nbytes // len(values))


@dataclass(frozen=True, kw_only=True)
class IndexArray:
    """Indices in memory; `restart` is the index that begins a new strip, None if none does."""

    address: int
    format: IndexFormat
    restart: int | None = None

    @staticmethod
    def of(device: Device, values: npt.NDArray[Any], *, restart: int | None = None) -> "IndexArray":
        """A copy of an array of uint16 or uint32 in a device's memory.

        Raises
        ------
        ValueError
            It has another type.
        """
        formats = {np.dtype(np.uint16): IndexFormat.UINT16, np.dtype(np.uint32): IndexFormat.UINT32}
        if values.dtype not in formats:
            raise ValueError(f"indices are uint16 or uint32, not {values.dtype}")
        return IndexArray(address=device.place(words_of(values)), format=formats[values.dtype], restart=restart)


@dataclass(frozen=True, kw_only=True)
class StreamTarget:
    """Memory that vertices are streamed out to: base (a multiple of 2 KiB), and dwords in all and of a vertex."""

    base: int
    dwords: int
    stride: int


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A draw of an executable that has a pipeline. `primitive` may be a name.

    `count` vertices, or indices where there are `indices`, form primitives. `point_size` is the side of points in
    pixels, rounded to 1/8; None: the program exports it. `near` says which z is clipped: that below 0, that below -w,
    or none. `add` adds what is exported to the targets.
    """

    primitive: PrimitiveType | str
    count: int
    viewport: Viewport
    instances: int = 1
    base_vertex: int = 0
    first_instance: int = 0
    buffers: Mapping[int, VertexArray] = field(default_factory=dict)
    indices: IndexArray | None = None
    streams: Mapping[int, StreamTarget] = field(default_factory=dict)
    provoking: Literal["first", "last"] = "last"
    front: Literal["counterclockwise", "clockwise"] = "counterclockwise"
    cull: Literal["none", "front", "back", "both"] = "none"
    near: Literal["zero", "minus_w", "off"] = "minus_w"
    far: bool = True
    discard: bool = False
    add: bool = False
    point_size: float | None = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.primitive, str):
            kind = next((each for each in PrimitiveType if each.name == self.primitive), None)
            if kind is None:
                names = ", ".join(each.name for each in TOPOLOGIES)
                raise ValueError(f"there is no primitive '{self.primitive}'; there are {names}")
            object.__setattr__(self, "primitive", kind)

    def set(self, commands: CommandBuffer) -> CommandBuffer:
        """Append the commands of the draw's state, all but the rings'."""
        for number, buffer in self.buffers.items():
            commands.set_vtx_fmt(number, buffer.address, buffer.size, buffer.stride)
        if self.indices is None:
            commands.set_idx_fmt(0, IndexFormat.NONE)
        else:
            commands.set_idx_fmt(self.indices.address, self.indices.format, restart=self.indices.restart)
        for number, stream in self.streams.items():
            commands.set_strm_fmt(number, stream.base, stream.dwords, stream.stride)
        view, kind = self.viewport, self.primitive
        assert isinstance(kind, PrimitiveType)
        commands.set_vport(*view.x, *view.y).set_vport_z(*view.z, *view.depth)
        return commands.set_raster(
            kind,
            point_size=self.point_size if self.point_size is not None else 0.0,
            provoking_last=self.provoking == "last",
            front_clockwise=self.front == "clockwise",
            cull_front=self.cull in ("front", "both"),
            cull_back=self.cull in ("back", "both"),
            clip_zero=self.near == "zero",
            no_near=self.near == "off",
            no_far=not self.far,
            discard=self.discard,
            program_point_size=self.point_size is None,
            add=self.add,
        )

    def append(self, commands: CommandBuffer) -> CommandBuffer:
        """Append the commands of the draw: its state, and its start."""
        self.set(commands)
        return commands.start_draw(
            self.count, instances=self.instances, base_vertex=self.base_vertex, first_instance=self.first_instance
        )


def place_rings(device: Device, pipeline: Pipeline, commands: CommandBuffer) -> CommandBuffer:
    """Append the commands of the rings that a pipeline needs, with memory for a wavefront of any size."""
    if pipeline.geometry is None:
        return commands
    for ring, item in ((Ring.ES_GS, pipeline.vertex_item), (Ring.GS_VS, pipeline.geometry_item)):
        dwords = item * LARGEST_WAVEFRONT
        commands.set_ring_fmt(ring, device.allocate(max(4 * dwords, 4)), dwords)
    return commands


def words_of(values: npt.NDArray[Any]) -> bytes:
    """The bytes of an array as it lies in memory, little-endian, padded to whole words."""
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    return little + bytes(-len(little) % 4)
