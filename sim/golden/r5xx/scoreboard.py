"""The operations of a wavefront that it has not synchronised with, for reports of hazards."""

from dataclasses import dataclass, field, replace

Channel = tuple[int, int]
"""A channel of a temporary: real compilers rely on the others being free."""


@dataclass(frozen=True, kw_only=True)
class Scoreboard:
    """Outstanding operations of a wavefront. True: the semaphore was acquired for the operation."""

    fetches: dict[Channel, bool] = field(default_factory=dict)
    """Channels that fetches have not delivered; True where the semaphore was acquired for the fetch."""
    uncached_write: bool | None = None
    """None where no uncached write is outstanding."""
    semaphore: bool = False
    alu: bool = False
    """Predicates or ALU result were written and no instruction waited for the ALU."""
    alu_result_used: bool = False
    """A flow-control instruction came after the ALU result was written."""
    last_written: frozenset[Channel] = frozenset()
    """Channels that the ALU or OUTPUT instruction just before wrote, if it had no NOP."""

    def waited(self) -> "Scoreboard":
        """After TEX_SEM_WAIT."""
        fetches: dict[Channel, bool] = {channel: False for channel, acquired in self.fetches.items() if not acquired}
        uncached_write = None if self.uncached_write else self.uncached_write
        return replace(self, fetches=fetches, uncached_write=uncached_write, semaphore=False)

    def acquired(self) -> "Scoreboard":
        """After an acquire, which covers everything before it."""
        uncached_write = None if self.uncached_write is None else True
        return replace(self, fetches=dict.fromkeys(self.fetches, True), uncached_write=uncached_write, semaphore=True)

    def __or__(self, other: "Scoreboard") -> "Scoreboard":
        """Of wavefronts that are merged: all that is outstanding for any of them."""
        fetches = {
            channel: self.fetches.get(channel, True) and other.fetches.get(channel, True)
            for channel in self.fetches | other.fetches
        }
        writes = [write for write in (self.uncached_write, other.uncached_write) if write is not None]
        return Scoreboard(
            fetches=fetches,
            uncached_write=all(writes) if writes else None,
            semaphore=self.semaphore or other.semaphore,
            alu=self.alu or other.alu,
            alu_result_used=self.alu_result_used or other.alu_result_used,
            last_written=self.last_written | other.last_written,
        )
