"""The array: runs batches of wavefronts through a program until all have ended.

Of several batches the one with the lowest position in the program goes on first. So wavefronts that left a loop or
skipped a block wait after it for the others, and go on with them as one batch.
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
    """Executes batches of one launch; the journal has what their wavefronts did."""

    def __init__(self, launch: Launch[Any], executor: Executor[B], journal: Journal[B]) -> None:
        self._watchdog = launch.watchdog
        self._may_recur = not launch.program.uncached_outputs
        self._executor = executor
        self._journal = journal
        self._waiting: dict[Control, list[B]] = defaultdict(list)

    def run(self, batch: B) -> None:
        """Run all wavefronts of `batch` to their end."""
        self._journal.counters.wavefronts += batch.wavefronts
        # Batches that wait were left by a run that an observer ended.
        self._waiting.clear()
        self._wait(batch)
        with np.errstate(all="ignore"):
            while self._waiting:
                lowest = min(self._waiting, key=lambda control: control.position)
                first, *others = self._waiting.pop(lowest)
                self._advance(first.merge(others))

    def _wait(self, batch: B) -> None:
        self._waiting[batch.control].append(batch)

    def _advance(self, batch: B) -> None:
        """Run a batch until it splits, ends or is no longer at the lowest position."""
        barrier = min((control.position for control in self._waiting), default=None)
        budget = self._watchdog - int(batch.settle().max()) if self._watchdog else None
        recurrence = Recurrence[B]() if budget is not None and self._may_recur else None
        while True:
            if batch.steps == budget:
                self._bark(batch)
                return
            batches = self._executor.step(batch)
            goes_on = len(batches) == 1 and batches[0] is batch
            if not goes_on or (barrier is not None and batch.control.position >= barrier):
                for each in batches:
                    self._wait(each)
                return
            if recurrence is not None and budget is not None:
                recurrence.skip(batch, self._journal.counters, budget)

    def _bark(self, batch: B) -> None:
        """Stop the wavefronts that used up their instructions; the others wait."""
        ended = batch.settle() >= self._watchdog
        detail = f"a wavefront executed {self._watchdog} instructions"
        self._journal.faulted(batch.select(ended), Status.WATCHDOG, detail)
        if not ended.all():
            self._wait(batch.select(~ended))
