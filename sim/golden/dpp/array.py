"""The array: runs batches of groups through a program until all have ended.

Of several batches the one with the lowest place in the program goes on first. So groups that left a loop or skipped a
block wait for the others behind it, and go on with them as one batch.
"""

from collections import defaultdict
from typing import Any, Generic

import numpy as np

from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.batch import Control
from ctm.sim.golden.dpp.instruction_set import B, Executor
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.recurrence import Recurrence


class Array(Generic[B]):
    """Executes batches of one launch; what becomes of their groups is in the journal."""

    def __init__(self, launch: Launch[Any], executor: Executor[B], journal: Journal[B]) -> None:
        self._watchdog = launch.watchdog
        self._may_recur = not launch.program.uncached_outputs
        self._executor = executor
        self._journal = journal
        self._waiting: dict[Control, list[B]] = defaultdict(list)

    def run(self, batch: B) -> None:
        """Run all groups of `batch` to their end."""
        self._journal.counters.groups += batch.groups
        # Those of a batch that an observer ended are not waited for.
        self._waiting.clear()
        self._wait(batch)
        with np.errstate(all="ignore"):
            while self._waiting:
                lowest = min(self._waiting, key=lambda control: control.place)
                first, *others = self._waiting.pop(lowest)
                self._advance(first.merge(others))

    def _wait(self, batch: B) -> None:
        self._waiting[batch.control].append(batch)

    def _advance(self, batch: B) -> None:
        """Run a batch until it splits, ends or stands no longer before all others."""
        barrier = min((control.place for control in self._waiting), default=None)
        budget = self._watchdog - int(batch.settle().max()) if self._watchdog else None
        recurrence = Recurrence[B]() if budget is not None and self._may_recur else None
        while True:
            if batch.steps == budget:
                self._bark(batch)
                return
            parts = self._executor.step(batch)
            goes_on = len(parts) == 1 and parts[0] is batch
            if not goes_on or (barrier is not None and batch.control.place >= barrier):
                for part in parts:
                    self._wait(part)
                return
            if recurrence is not None and budget is not None:
                recurrence.skip(batch, self._journal.counters, budget)

    def _bark(self, batch: B) -> None:
        """Stop the groups that used up their instructions; the others wait for their next turn."""
        ended = batch.settle() >= self._watchdog
        detail = f"a wavefront executed {self._watchdog} instructions"
        self._journal.faulted(batch.select(ended), Status.WATCHDOG, detail)
        if not ended.all():
            self._wait(batch.select(~ended))
