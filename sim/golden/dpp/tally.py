"""How often each instruction of each program is issued, and for how many lanes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.sim.golden.dpp.batch import Batch


@dataclass
class Count:
    """An instruction: wavefronts that issued it, and the lanes of all of them, as they were before it.

    `active`: lanes that are active, covered or not. `present`: lanes that are covered and valid. `working`: both.
    """

    issues: int = 0
    active: int = 0
    working: int = 0
    present: int = 0


@dataclass
class Tally:
    """Counts by the address of the executable and the PC."""

    counts: dict[tuple[int, int], Count] = field(default_factory=dict)

    def add(self, executable: int, batch: Batch[Any]) -> None:
        """All groups of `batch` are about to execute the instruction at its PC."""
        count = self.counts.setdefault((executable, batch.control.pc), Count())
        present = batch.covered & batch.valid_mask
        there = int(np.count_nonzero(present))
        count.issues += batch.groups
        count.active += batch.active_lanes
        count.present += there
        count.working += there if batch.all_active else int(np.count_nonzero(present & batch.active))
