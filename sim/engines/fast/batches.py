"""Programs that are left to the golden model."""

from typing import Any

from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.processor import BATCH_LANES


class Batches:
    """A program on the golden model, in batches of groups as the golden engine runs it; see `Run`.

    Batches can be seen where groups read what others write: nothing promises what they find, but here it is the same.
    """

    def __init__(self, golden: ArrayRun[Any, Any]) -> None:
        self._golden = golden

    def add(self, groups: DomainWavefronts) -> None:
        """Run groups; see `Run.add`."""
        count, size = groups.order.size, BATCH_LANES // groups.lanes
        for first in range(0, count, size):
            self._golden.add(groups.slice(first, first + size))

    def finish(self) -> MachineError | None:
        """The first fault; see `Run.finish`."""
        return self._golden.finish()
