"""Endless loops: a batch that comes back to a state it was in goes round for ever, and whole rounds can be skipped.

A program that never ends is stopped by the watchdog, which may allow millions of instructions. Counting them one by one
would keep a user waiting for minutes; the result is the same. States are compared with snapshots taken ever more rarely
(Brent's algorithm), so a loop is found within a few of its rounds, whatever their length.
"""

from typing import Generic

from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.instruction_set import B

_FIRST_SNAPSHOT = 512
"""Instructions that a batch executes before its states are compared: short programs never pay."""


class Recurrence(Generic[B]):
    """Watches one batch while it runs alone. It must not have written memory that it can read."""

    def __init__(self) -> None:
        self._next = _FIRST_SNAPSHOT
        self._snapshot: B | None = None
        self._counters = Counters()

    def skip(self, batch: B, counters: Counters, budget: int) -> None:
        """After a step: where the state is that of the snapshot, count as many whole rounds as `budget` steps allow."""
        snapshot = self._snapshot
        if snapshot is not None and batch.control == snapshot.control and batch.is_in_state_of(snapshot):
            period = batch.steps - snapshot.steps
            rounds = (budget - batch.steps) // period
            batch.steps += rounds * period
            counters.add(counters.since(self._counters), times=rounds)
            self._snapshot, self._next = None, budget + 1
        elif batch.steps >= self._next:
            self._snapshot, self._next = batch.copy(), 2 * self._next
            self._counters = Counters()
            self._counters.add(counters)
