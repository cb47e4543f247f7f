"""What the commands of draws set."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ctm.rtl.isa.commands import BASE_MASK, Command
from ctm.rtl.isa.draws import (
    INDEX_WORD,
    POINT_SIZE,
    RASTER,
    STREAMS,
    VERTEX_BUFFERS,
    IndexFormat,
    PrimitiveType,
    Ring,
)
from ctm.rtl.isa.word import unpack


@dataclass(frozen=True)
class VertexBuffer:
    """Where vertices' data is: a byte address, bytes in all, and bytes from one element to the next."""

    address: int = 0
    size: int = 0
    stride: int = 0


@dataclass(frozen=True)
class Stream:
    """Where vertices are streamed out to: base, size and a vertex's stride in dwords, and how many are filled."""

    base: int = 0
    dwords: int = 0
    stride: int = 0
    filled: int = 0


@dataclass(frozen=True)
class Viewport:
    """Scale and offset of x, y and z, float32 [3] each, and the range that depth is clamped to."""

    scale: np.ndarray = field(default_factory=lambda: np.zeros(3, np.float32))
    offset: np.ndarray = field(default_factory=lambda: np.zeros(3, np.float32))
    z_range: tuple[np.float32, np.float32] = (np.float32(0), np.float32(0))


@dataclass(frozen=True, kw_only=True)
class Raster:
    """The fields of `RASTER`, and half the side of a point's square in 1/16 pixel."""

    primitive: int = 0
    provoking_last: bool = False
    front_clockwise: bool = False
    cull_front: bool = False
    cull_back: bool = False
    clip_zero: bool = False
    no_near: bool = False
    no_far: bool = False
    discard: bool = False
    program_point_size: bool = False
    add: bool = False
    point_radius: int = 0

    @property
    def kind(self) -> PrimitiveType | None:
        """The primitive type; None if there is none of that number."""
        return next((kind for kind in PrimitiveType if kind.value == self.primitive), None)


@dataclass(frozen=True)
class Start:
    """The parameters of start_draw."""

    count: int
    instances: int
    base_vertex: int
    first_instance: int


@dataclass(kw_only=True)
class DrawState:
    """State that persists from draw to draw; the defaults are the reset state."""

    buffers: list[VertexBuffer] = field(default_factory=lambda: [VertexBuffer()] * VERTEX_BUFFERS)
    index_address: int = 0
    index_format: IndexFormat = IndexFormat.NONE
    restart: int | None = None
    """The index that begins a new strip, where restart is enabled."""
    rings: dict[Ring, int] = field(default_factory=lambda: dict.fromkeys(Ring, 0))
    """Dwords of each ring."""
    streams: list[Stream] = field(default_factory=lambda: [Stream()] * STREAMS)
    viewport: Viewport = field(default_factory=Viewport)
    raster: Raster = field(default_factory=Raster)

    def copy(self) -> "DrawState":
        """The same state, which no later command changes."""
        return replace(self, buffers=list(self.buffers), rings=dict(self.rings), streams=list(self.streams))

    def apply(self, command: Command, words: Sequence[int]) -> None:
        """Execute a command that sets state; any other does nothing here. Words that are reserved are ignored."""
        match command.name:
            case "set_vtx_fmt":
                self.buffers[words[0] & VERTEX_BUFFERS - 1] = VertexBuffer(words[1] & ~3, words[2], words[3])
            case "set_idx_fmt":
                fields = unpack(INDEX_WORD, words[1])
                self.index_address, self.index_format = words[0] & ~3, IndexFormat(fields["format"])
                self.restart = words[2] if fields["restart"] else None
            case "set_ring_fmt":
                self.rings[Ring(words[0] & 1)] = words[2]
            case "set_strm_fmt":
                self.streams[words[0] & STREAMS - 1] = Stream(words[1] & BASE_MASK, words[2], words[3])
            case "set_vport":
                self._set_axis(0, words[0:2])
                self._set_axis(1, words[2:4])
            case "set_vport_z":
                self._set_axis(2, words[0:2])
                lowest, highest = np.array(words[2:4], np.uint32).view(np.float32)
                self.viewport = replace(self.viewport, z_range=(lowest, highest))
            case "set_raster":
                fields = unpack(RASTER, words[0])
                del fields["reserved"]
                primitive = fields.pop("primitive")
                flags = {name: bool(flag) for name, flag in fields.items()}
                radius = unpack(POINT_SIZE, words[1])["radius"]
                self.raster = Raster(primitive=primitive, point_radius=radius, **flags)

    def _set_axis(self, axis: int, words: Sequence[int]) -> None:
        scale, offset = self.viewport.scale.copy(), self.viewport.offset.copy()
        scale[axis], offset[axis] = np.array(words, np.uint32).view(np.float32)
        self.viewport = replace(self.viewport, scale=scale, offset=offset)
