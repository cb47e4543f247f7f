"""What the memory controller knows of an input, an output or the conditional buffer."""

from dataclasses import dataclass

from ctm.rtl.isa.formats import ELEMENTS, FORMAT, HEIGHT, PITCH_UNIT, DataFormat, ElementShape, Tiling
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.rtl.isa.word import unpack


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A rectangle of elements in memory, as the set_*_fmt commands describe it. The default is the reset state."""

    base: int = 0
    pitch: int = 0
    """Elements from row to row, a multiple of four."""
    tiling: Tiling = Tiling.LINEAR
    format: DataFormat = DataFormat.UINT16_1
    height: int = 0
    """As given; 0 means 4096."""

    @staticmethod
    def from_words(base: int, format_word: int, height_word: int = 0) -> "Buffer":
        """The buffer of a set_*_fmt command's parameters. The format code must not be a reserved one."""
        fields = unpack(FORMAT, format_word)
        return Buffer(
            base=base,
            pitch=fields["pitch"] * PITCH_UNIT,
            tiling=Tiling(fields["tiling"]),
            format=DataFormat(fields["format"]),
            height=unpack(HEIGHT, height_word)["height"],
        )

    @property
    def element(self) -> ElementShape:
        """Channels and bytes of an element."""
        return ELEMENTS[self.format]

    @property
    def width_limit(self) -> int:
        """Columns that exist: reads clamp to them, writes beyond are dropped."""
        return min(self.pitch, COORDINATE_LIMIT)

    @property
    def height_limit(self) -> int:
        """Rows that exist."""
        return min(self.height or COORDINATE_LIMIT, COORDINATE_LIMIT)

    @property
    def scale_height(self) -> int:
        """What a scaled t coordinate is multiplied by."""
        return self.height or COORDINATE_LIMIT

    @property
    def is_tiled(self) -> bool:
        """Whether elements lie in 2 KiB tiles."""
        return self.tiling in (Tiling.TILED, Tiling.TILED_INP_2X2)

    @property
    def is_2x2(self) -> bool:
        """Whether a fetch reads four neighbours; inputs only."""
        return self.tiling in (Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2)
