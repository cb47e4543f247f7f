"""What the array counts while it runs."""

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Counters:
    """Wavefront instructions issued by unit, and the same times the active lanes of each."""

    wavefronts: int = 0
    """Wavefronts that ran."""
    issued: dict[str, int] = field(default_factory=dict)
    """By the names that the instruction set gives to its kinds of instructions."""
    lane_instructions: int = 0

    @property
    def instructions(self) -> int:
        """Wavefront instructions of all units."""
        return sum(self.issued.values())

    def add(self, other: "Counters", *, times: int = 1) -> None:
        """Add `other`, `times` over."""
        self.wavefronts += times * other.wavefronts
        self.lane_instructions += times * other.lane_instructions
        for unit, count in other.issued.items():
            self.issued[unit] = self.issued.get(unit, 0) + times * count

    def since(self, earlier: "Counters") -> "Counters":
        """What was counted since `earlier`."""
        result = Counters()
        result.add(self)
        result.add(earlier, times=-1)
        return result
