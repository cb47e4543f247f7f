"""What a campaign has done so far: seeds, cells that were covered, and failures."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ctm.tb.verify.campaign import Campaign, Case
from ctm.tb.verify.worker import Record


@dataclass
class Failure:
    """A failing seed: its case, reduced if `tries` is not 0, and its first difference.

    `size` counts the items that are left of a reduced case. A batch that no worker survives has no case, only its
    seeds.
    """

    campaign: str
    case: Case
    difference: str
    kind: str
    tries: int = 0
    is_complete: bool = False
    size: int = 0

    @property
    def seed(self) -> int:
        """The seed that it was drawn from."""
        return int(self.case["seed"])

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.campaign}-{self.seed}"

    @property
    def listing(self) -> list[str]:
        """The lines of its programs, of several each after a comment with its name; none of a drawn case."""
        named = self.case.get("programs", {})
        listed = (line for name, lines in named.items() for line in (f"; {name}", *lines))
        return [*self.case.get("program", ()), *listed]


@dataclass
class Tally:
    """The state of a campaign's run. `stop` is set when it is to begin no more batches."""

    campaign: Campaign
    next_seed: int
    last_seed: int | None
    """The first seed that is not run; None: there is no end."""
    seeds: int = 0
    seconds: float = 0.0
    """Time of workers."""
    events: Counter[str] = field(default_factory=Counter)
    failures: dict[int, Failure] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    """Batches and reductions that could not be done, and why."""
    stop: bool = False

    def batch(self) -> list[int]:
        """The seeds of the next batch, none if the campaign is done."""
        if self.stop:
            return []
        end = self.next_seed + self.campaign.batch
        end = end if self.last_seed is None else min(end, self.last_seed)
        seeds = list(range(self.next_seed, end))
        self.next_seed = end
        return seeds

    def take_batch(self, record: Record) -> list[Failure]:
        """Add what a batch did; its failures."""
        self.seeds += record["seeds"]
        self.seconds += record["seconds"]
        self.events.update(record["events"])
        found = [Failure(self.campaign.name, **failure) for failure in record["failures"]]
        self.failures |= {failure.seed: failure for failure in found}
        return found

    def take_reduction(self, record: Record) -> Failure:
        """Replace the drawn case by a reduced one; the failure."""
        self.seconds += record["seconds"]
        fields = ("campaign", "case", "difference", "kind", "tries", "is_complete", "size")
        failure = Failure(**{name: record[name] for name in fields})
        self.failures[failure.seed] = failure
        return failure

    def covered(self, table: str) -> dict[str, int]:
        """How many programs covered each cell of a table."""
        prefix = f"{table}|"
        return {name.removeprefix(prefix): count for name, count in self.events.items() if name.startswith(prefix)}

    def kinds(self) -> Iterator[tuple[str, int]]:
        """Kinds of differences, and how many failing seeds have each."""
        yield from Counter(failure.kind for failure in self.failures.values()).items()

    def as_fields(self) -> dict[str, Any]:
        """What JSON says of it."""
        return {
            "seeds": self.seeds, "seconds": round(self.seconds, 1), "failing": len(self.failures),
            "lost": list(self.lost),
        }  # fmt: skip
