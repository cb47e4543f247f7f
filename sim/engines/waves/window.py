"""Which cycles a wave has, and of what."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

VCD, COMPRESSED_VCD, FST = ".vcd", ".vcd.gz", ".fst"
FORMATS = (FST, VCD, COMPRESSED_VCD)
Around = Literal["fault", "end"]


@dataclass(frozen=True, kw_only=True)
class Waves:
    """A wave that is to be written.

    Cycle 0 is the one in which the first command buffer is pushed.

    path
        Its ending says the format, one of `FORMATS`.
    first
        The first cycle.
    cycles
        How many, None for all that follow.
    at
        A processor (i, j): from `first` on, the cycles in which a wavefront that has it is in a wave slot, the first one
        of several.
    depth
        Memories of up to so many words are written, too.
    """

    path: Path
    first: int = 0
    cycles: int | None = None
    at: tuple[int, int] | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        if self.first < 0 or self.depth < 0 or (self.cycles is not None and self.cycles < 1):
            raise ValueError("cycles and depths of waves are at least 0, and a window has a cycle")
        if self.suffix not in FORMATS:
            raise ValueError(f"{self.path}: a wave ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")

    @property
    def suffix(self) -> str:
        """The ending of its name, as one of `FORMATS` where it is one."""
        name = self.path.name.lower()
        return next((suffix for suffix in reversed(FORMATS) if name.endswith(suffix)), self.path.suffix)


@dataclass(frozen=True, kw_only=True)
class Written:
    """What has been written of a wave: cycles from `first` to before `end`, None where the window never came."""

    first: int | None
    end: int | None
    fault: int | None
    """The first cycle with a fault."""
