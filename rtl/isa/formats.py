"""Data formats, tilings and the parameter words that describe a buffer in memory.

Source: CTM Guide pp. 5-7 (address translation) and 13-22 (parameters).
"""

from dataclasses import dataclass

from amaranth.lib import data, enum


class DataFormat(enum.Enum, shape=3):
    """Element format of an input, output or conditional buffer; p. 14. Codes 5 to 7 are reserved."""

    UINT16_1 = 0
    UINT8_4 = 1
    FLOAT32_1 = 2
    FLOAT32_2 = 3
    FLOAT32_4 = 4


class Tiling(enum.Enum, shape=2):
    """Placement of elements; p. 13. The 2X2 forms act on inputs only, elsewhere they are LINEAR and TILED."""

    LINEAR = 0
    TILED = 1
    LINEAR_INP_2X2 = 2
    TILED_INP_2X2 = 3


@dataclass(frozen=True, kw_only=True)
class ElementShape:
    """Channels of an element and their width; channel 0 sits at the lowest address."""

    channels: int
    channel_bytes: int
    is_float: bool

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self.channels * self.channel_bytes


ELEMENTS = {
    DataFormat.UINT16_1: ElementShape(channels=1, channel_bytes=2, is_float=False),
    DataFormat.UINT8_4: ElementShape(channels=4, channel_bytes=1, is_float=False),
    DataFormat.FLOAT32_1: ElementShape(channels=1, channel_bytes=4, is_float=True),
    DataFormat.FLOAT32_2: ElementShape(channels=2, channel_bytes=4, is_float=True),
    DataFormat.FLOAT32_4: ElementShape(channels=4, channel_bytes=4, is_float=True),
}

TILE_LOG2 = {1: (6, 5), 2: (5, 5), 4: (5, 4), 8: (4, 4), 16: (4, 3)}
"""Element bytes -> log2 of a tile's width and height in elements. A tile is 2 KiB; p. 6."""

LINEAR_ROW_ALIGNMENT = 32
"""The row stride of a linear buffer is rounded down to this many bytes; p. 6, table 1."""

FORMAT = data.StructLayout(
    {
        "reserved_low": 2,
        "pitch": 11,
        "reserved_middle": 3,
        "tiling": Tiling,
        "reserved_high": 6,
        "format": DataFormat,
        "reserved_top": 5,
    }
)
"""A format word. `pitch` counts multiples of four elements."""

HEIGHT = data.StructLayout({"height": 13, "reserved": 19})
"""A height word. Height 0 means 4096."""

PITCH_UNIT = 4
