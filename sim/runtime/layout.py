"""How the runtime lays buffers out in memory: legal pitches, sizes and format words.

Source: CTM Guide pp. 5-7 and 13-16.
"""

import math
from dataclasses import dataclass
from numbers import Integral

from ctm.rtl.isa.formats import ELEMENTS, FORMAT, LINEAR_ROW_ALIGNMENT, PITCH_UNIT, TILE_LOG2, DataFormat, Tiling
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.rtl.isa.word import pack
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.runtime.types import check_type


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A rectangle of `width` x `height` elements in a format and tiling; both 1 to 4096.

    `pitch` is the width rounded up to the next legal pitch, so that rows and tiles do not overlap.
    """

    width: int
    height: int
    format: DataFormat
    tiling: Tiling = Tiling.LINEAR

    def __post_init__(self) -> None:
        check_type("format", self.format, DataFormat)
        check_type("tiling", self.tiling, Tiling)
        for name, value in (("width", self.width), ("height", self.height)):
            check_type(name, value, Integral)
            if not 1 <= value <= COORDINATE_LIMIT:
                raise ValueError(f"{name} must be 1..{COORDINATE_LIMIT}, not {value}")
            # Numbers of numpy overflow where those of Python do not.
            object.__setattr__(self, name, int(value))
        if self.tiling in (Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2) and ELEMENTS[self.format].channels > 1:
            raise ValueError(f"tiling {self.tiling.name} needs a format of one channel, not {self.format.name}")

    @property
    def is_tiled(self) -> bool:
        """Whether elements lie in 2 KiB tiles."""
        return self.tiling in (Tiling.TILED, Tiling.TILED_INP_2X2)

    @property
    def pitch_step(self) -> int:
        """Legal pitches are multiples of this."""
        size = ELEMENTS[self.format].element_bytes
        if self.is_tiled:
            return 1 << TILE_LOG2[size][0]
        return math.lcm(PITCH_UNIT, LINEAR_ROW_ALIGNMENT // size)

    @property
    def pitch(self) -> int:
        """Elements from row to row."""
        return -(-self.width // self.pitch_step) * self.pitch_step

    @property
    def is_padded(self) -> bool:
        """Whether rows have elements beyond the width, because that is no legal pitch."""
        return self.pitch != self.width

    def exchanges_with(self, other: "Layout") -> bool:
        """Whether the elements of one lie just where those of the other do."""
        mine = (self.width, self.height, self.format, self.is_tiled)
        return mine == (other.width, other.height, other.format, other.is_tiled)

    @property
    def size(self) -> int:
        """Bytes, whole tiles counted."""
        size = ELEMENTS[self.format].element_bytes
        rows = 1 << TILE_LOG2[size][1] if self.is_tiled else 1
        return self.pitch * size * (-(-self.height // rows) * rows)

    @property
    def format_word(self) -> int:
        """The format parameter of the set_*_fmt commands."""
        return pack(FORMAT, pitch=self.pitch // PITCH_UNIT, tiling=self.tiling.value, format=self.format.value)

    def at(self, base: int) -> Buffer:
        """The buffer that these elements form at `base`."""
        return Buffer(base=base, pitch=self.pitch, tiling=self.tiling, format=self.format, height=self.height)
