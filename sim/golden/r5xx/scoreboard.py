"""What a group has started and not yet synchronised with; used where hazards are reported."""

from dataclasses import dataclass, field, replace

Place = tuple[int, int]
"""A channel of a temporary: real compilers rely on the others being free."""


@dataclass(frozen=True, kw_only=True)
class Scoreboard:
    """What a group has not synchronised with. True stands for: the semaphore was acquired for it."""

    lookups: dict[Place, bool] = field(default_factory=dict)
    """Places that lookups have not delivered."""
    uncached_write: bool | None = None
    """None where no uncached write is outstanding."""
    semaphore: bool = False
    alu: bool = False
    """Predicates or ALU result were written and no instruction waited for the ALU."""
    alu_result_used: bool = False
    """A flow-control instruction came after the ALU result was written."""
    last_written: frozenset[Place] = frozenset()
    """Places that the ALU or OUTPUT instruction just before wrote, if it had no NOP."""

    def waited(self) -> "Scoreboard":
        """After TEX_SEM_WAIT."""
        lookups: dict[Place, bool] = {place: False for place, acquired in self.lookups.items() if not acquired}
        uncached_write = None if self.uncached_write else self.uncached_write
        return replace(self, lookups=lookups, uncached_write=uncached_write, semaphore=False)

    def acquired(self) -> "Scoreboard":
        """After an acquire, which covers everything before it."""
        uncached_write = None if self.uncached_write is None else True
        return replace(self, lookups=dict.fromkeys(self.lookups, True), uncached_write=uncached_write, semaphore=True)

    def __or__(self, other: "Scoreboard") -> "Scoreboard":
        """Of groups that meet: whatever is outstanding for any of them."""
        lookups = {
            place: self.lookups.get(place, True) and other.lookups.get(place, True)
            for place in self.lookups | other.lookups
        }
        writes = [write for write in (self.uncached_write, other.uncached_write) if write is not None]
        return Scoreboard(
            lookups=lookups,
            uncached_write=all(writes) if writes else None,
            semaphore=self.semaphore or other.semaphore,
            alu=self.alu or other.alu,
            alu_result_used=self.alu_result_used or other.alu_result_used,
            last_written=self.last_written | other.last_written,
        )
