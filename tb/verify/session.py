"""A run of campaigns: which batch comes next, when it ends, and what is made of what comes back."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ctm.tb.verify.tally import Failure, Tally
from ctm.tb.verify.worker import Record, reduce_case, run_batch

REDUCTION_SECONDS = 300.0
"""Time for making one case small."""
_REDUCED = 3
"""Failing seeds of a campaign and kind that are made small: others are likely of the same fault."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run ends: after a time, or where a campaign has so many failing seeds."""

    seconds: float | None = None
    most_failures: int = 10


@dataclass(frozen=True)
class Task:
    """A batch of seeds, or with `failure` a reduction, of one campaign."""

    tally: Tally
    seeds: tuple[int, ...] = ()
    failure: Failure | None = None

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return self.tally.campaign.name

    def lost(self, reason: str) -> Record:
        """The record of a task that could not be done."""
        seeds = "" if self.failure else f"seeds {self.seeds[0]} to {self.seeds[-1]}"
        text = f"reduction of seed {self.failure.seed}" if self.failure else seeds
        return {"task": "lost", "campaign": self.campaign, "reason": f"{text}: {reason}"}


@dataclass
class Session:
    """A run. `keep` is called with each failure when it is found, and again when it is smaller."""

    tallies: Mapping[str, Tally]
    limits: Limits
    keep: Callable[[Failure], None]
    _waiting: list[Task] = field(default_factory=list)
    """Reductions that are to be begun."""
    _begun: float | None = None

    def begin(self) -> None:
        """Start the clock, if it does not run: compiled models are there."""
        if self._begun is None:
            self._begun = time.monotonic()

    @property
    def is_begun(self) -> bool:
        """Whether the clock runs."""
        return self._begun is not None

    @property
    def seconds(self) -> float:
        """How long the clock has run."""
        return 0.0 if self._begun is None else time.monotonic() - self._begun

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    def next_task(self, outstanding: Mapping[str, int]) -> Task | None:
        """What to begin next, if there is anything: a reduction, else a batch of the campaign that has had least.

        `outstanding` counts the batches of each campaign that have not come back.
        """
        if self._waiting:
            return self._waiting.pop(0)
        if self.is_over:
            return None

        def had(tally: Tally) -> float:
            mean = tally.seconds / max(1, tally.seeds) * tally.campaign.batch
            return tally.seconds + outstanding.get(tally.campaign.name, 0) * max(mean, 1e-3)

        for tally in sorted(self.tallies.values(), key=had):
            seeds = tally.batch()
            if seeds:
                return Task(tally, tuple(seeds))
        return None

    def take(self, record: Record) -> None:
        """Take over what a task gave."""
        tally = self.tallies[record["campaign"]]
        if record["task"] == "lost":
            tally.lost.append(record["reason"])
        elif record["task"] == "reduction":
            self.keep(tally.take_reduction(record))
        else:
            for failure in tally.take_batch(record):
                self.keep(failure)
                if dict(tally.kinds())[failure.kind] <= _REDUCED:
                    self._waiting.append(Task(tally, failure=failure))
        tally.stop |= len(tally.failures) + len(tally.lost) >= self.limits.most_failures


def run_here(session: Session, tell: Callable[[], None]) -> None:
    """Do everything in this process; `tell` is called after each task."""
    for tally in session.tallies.values():
        tally.campaign.model()
    session.begin()
    while (task := session.next_task({})) is not None:
        if task.failure is None:
            record = run_batch(task.campaign, task.seeds, None, "")
        else:
            failure = task.failure
            record = reduce_case(
                task.campaign, failure.case, failure.difference, failure.kind, REDUCTION_SECONDS, None, ""
            )  # fmt: skip
        session.take(record)
        tell()
