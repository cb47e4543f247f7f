"""How often each instruction of each program is issued, and for how many lanes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.steps import Steps


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
    """Counts by the address of the executable and the PC, and the steps of wavefronts as far as space remains."""

    steps: Steps
    counts: dict[tuple[int, int], Count] = field(default_factory=dict)

    def begin(self, launch: Launch[Any]) -> int:
        """A launch begins: its number."""
        return self.steps.begin(launch)

    def add(self, launch: int, batch: Batch[Any]) -> None:
        """All wavefronts of `batch`, of this launch, are about to execute the instruction at its PC."""
        if self.steps.most:
            self.steps.add(launch, batch)
        executable = self.steps.launches[launch].executable
        count = self.counts.setdefault((executable, batch.control.pc), Count())
        present = batch.covered & batch.valid_mask
        there = int(np.count_nonzero(present))
        count.issues += batch.wavefronts
        count.active += batch.active_lanes
        count.present += there
        count.working += there if batch.all_active else int(np.count_nonzero(present & batch.active))
