"""Regions of memory for drawn work, and the rectangles of elements that they may hold."""

from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.isa.formats import ELEMENTS, TILE_LOG2, DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_SPACE, BASE_ALIGNMENT, COORDINATE_LIMIT, SYSTEM_MEMORY
from ctm.sim.runtime import Layout
from ctm.tb.lib.random_values import random_floats

_ONE_CHANNEL = (Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2)
_LINEAR = 0.9
_HUGE = 16 * COORDINATE_LIMIT * COORDINATE_LIMIT


@dataclass(frozen=True)
class Region:
    """Bytes that only drawn buffers use; the last ones may lie at the beginning of memory."""

    base: int
    size: int

    @property
    def lines(self) -> range:
        """Lines that do not wrap."""
        return range(self.base // 64, min(self.base + self.size, ADDRESS_SPACE) // 64)


def _aligned(address: int) -> int:
    return -(-address // BASE_ALIGNMENT) * BASE_ALIGNMENT


@dataclass
class Space:
    """Memory of both ports while it is given away; `contents` is what it holds at first."""

    generator: np.random.Generator
    contents: list[tuple[int, bytes]] = field(default_factory=list)
    _next: list[int] = field(default_factory=lambda: [0x0010_0000, SYSTEM_MEMORY + 0x0010_0000])
    _borders: list[int] = field(default_factory=lambda: [SYSTEM_MEMORY, ADDRESS_SPACE])
    """Each is given away once."""
    _empty: list[int] = field(default_factory=lambda: [0x1000_0000, ADDRESS_SPACE - 0x2000_0000])
    """Where nothing else is."""

    def region(self, size: int) -> Region:
        """A region, now and then at the end of local memory or of all memory, or across it."""
        if self._borders and size <= 1 << 16 and self.generator.random() < 0.15:
            border = self._borders.pop(int(self.generator.integers(len(self._borders))))
            units = size // BASE_ALIGNMENT
            before = units if self.generator.random() < 0.5 else int(self.generator.integers(1, units + 1))
            return Region(border - before * BASE_ALIGNMENT, size)
        port = int(self.generator.integers(2))
        base = _aligned(self._next[port] + int(self.generator.integers(1, BASE_ALIGNMENT)))
        self._next[port] = base + size
        return Region(base, size)

    def put(self, region: Region, data: bytes) -> None:
        """What a region holds at first."""
        head = min(len(data), ADDRESS_SPACE - region.base)
        self.contents.append((region.base, data[:head]))
        if head < len(data):
            self.contents.append((0, data[head:]))

    def place(self, data: bytes) -> Region:
        """Data in a region of their own."""
        region = self.region(_aligned(max(1, len(data))))
        self.put(region, data)
        return region

    def numbers(self) -> Region:
        """A region of some KiB that holds numbers of all kinds; seldom one for 4096 x 4096 elements."""
        if self._empty and self.generator.random() < 0.02:
            base = self._empty.pop(int(self.generator.integers(len(self._empty))))
            region = Region(base, _HUGE >> int(self.generator.integers(5)))
        else:
            region = self.region(BASE_ALIGNMENT * int(self.generator.choice([1, 2, 4, 8, 16])))
        words = random_floats(self.generator, (min(region.size, 1 << 15) // 4,))
        if self.generator.random() < 0.2:
            words = self.generator.integers(1 << 32, size=words.shape, dtype=np.uint32)
        self.put(region, words.tobytes())
        return region


def draw_layout(
    generator: np.random.Generator,
    region: Region,
    *,
    formats: list[DataFormat],
    is_input: bool = False,
    linear: bool = False,
) -> Layout:
    """A rectangle that fits a region, mostly a `linear` one; inputs may be looked up in blocks of 2x2."""
    data_format = formats[int(generator.integers(len(formats)))]
    size = ELEMENTS[data_format].element_bytes
    tilings = [Tiling.LINEAR, Tiling.TILED]
    if linear and generator.random() < _LINEAR:
        tilings = [Tiling.LINEAR]
    if is_input and ELEMENTS[data_format].channels == 1:
        tilings += _ONE_CHANNEL
    tiling = tilings[int(generator.integers(len(tilings)))]
    is_tiled = tiling in (Tiling.TILED, Tiling.TILED_INP_2X2)
    if region.size >= _HUGE // 16 and region.size >= size * COORDINATE_LIMIT * COORDINATE_LIMIT:
        return Layout(width=COORDINATE_LIMIT, height=COORDINATE_LIMIT, format=data_format, tiling=tiling)
    rows = 1 << TILE_LOG2[size][1] if is_tiled else 1
    most = min(COORDINATE_LIMIT, region.size // (rows * size))
    width = int(generator.integers(1, most + 1 if generator.random() < 0.2 else min(most, 40) + 1))
    pitch = Layout(width=width, height=1, format=data_format, tiling=tiling).pitch
    if pitch * rows * size > region.size:
        # The next legal pitch is too much.
        width = max(1, width // 2 if width < 8 else width - 8 * (8 // size or 1))
        pitch = Layout(width=width, height=1, format=data_format, tiling=tiling).pitch
    highest = min(COORDINATE_LIMIT, region.size // (pitch * size) // rows * rows)
    height = int(generator.integers(1, highest + 1)) if generator.random() < 0.5 else highest
    layout = Layout(width=width, height=height, format=data_format, tiling=tiling)
    assert layout.size <= region.size
    return layout
