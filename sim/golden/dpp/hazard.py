"""Hazards: reads of values that the rules of synchronisation do not promise."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """One read that is not promised; (i, j) is lane 0 of the first wavefront seen to make it."""

    pc: int
    text: str
    i: int
    j: int


class Hazards:
    """Collects hazards, each PC and kind once."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Hazard] = {}

    def report(self, pc: int, text: str, i: int, j: int) -> None:
        """Take note of a hazard."""
        self._found.setdefault((pc, text), Hazard(pc=pc, text=text, i=i, j=j))

    def sorted(self) -> list[Hazard]:
        """All of them by PC."""
        return sorted(self._found.values(), key=lambda hazard: hazard.pc)
