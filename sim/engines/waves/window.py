"""Which cycles a wave has, and of what."""

from dataclasses import dataclass
from pathlib import Path

from ctm.sim.engines.seen import Watching

VCD, COMPRESSED_VCD, FST = ".vcd", ".vcd.gz", ".fst"
FORMATS = (FST, VCD, COMPRESSED_VCD)
MOST = (1 << 63) - 1
"""The greatest number of a cycle: models count in 64 bits, and windows add up."""


@dataclass(frozen=True, kw_only=True)
class Waves(Watching):
    """A wave that is to be written.

    Cycle 0 is the one in which the first command buffer is pushed.

    path
        Its ending says the format, one of `FORMATS`. None writes nothing: `Written` says where a fault was.
    first
        The first cycle.
    cycles
        How many, None for all that follow.
    at
        A pixel (i, j): from `first` on, the cycles in which a wavefront that has it is in a wave slot. Of several
        wavefronts it is the first one.
    depth
        Memories of up to so many words are written, too.
    """

    path: Path | None
    first: int = 0
    cycles: int | None = None
    at: tuple[int, int] | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.path, Path | None):
            raise TypeError(f"path: a pathlib.Path, and not {self.path!r}")
        if self.first < 0 or self.depth < 0 or (self.cycles is not None and self.cycles < 1):
            raise ValueError("cycles and depths of waves are at least 0, and a window has a cycle")
        if max(self.first, self.cycles or 0, self.depth) > MOST:
            raise ValueError(f"cycles and depths of waves are {MOST} at most")
        if self.path is not None and self.suffix not in FORMATS:
            raise ValueError(f"{self.path}: a wave ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")

    @property
    def suffix(self) -> str:
        """The ending of its name, as one of `FORMATS` where it is one."""
        name = "" if self.path is None else self.path.name.lower()
        return next((suffix for suffix in FORMATS if name.endswith(suffix)), "")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What has been written of a wave."""

    first: int | None
    """The first cycle; None if the window never came."""
    end: int | None
    """The cycle after the last one."""
    fault: int | None
    """The first cycle with a fault, in the wave or not."""
    cycles: int
    """Those up to the interrupt of the last command buffer, in the wave or not."""
