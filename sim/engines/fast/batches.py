"""Programs that run on the golden model."""

from typing import Any

from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.processor import BATCH_LANES


class Batches:
    """A program on the golden model, in batches of wavefronts as the golden engine runs it; see `Run`.

    Batches are visible where wavefronts read what others write: no rule says what they find, but here it is the same.
    """

    def __init__(self, golden: ArrayRun[Any, Any]) -> None:
        self._golden = golden

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts; see `Run.add`."""
        count, size = wavefronts.order.size, BATCH_LANES // wavefronts.lanes
        for first in range(0, count, size):
            self._golden.add(wavefronts.slice(first, first + size))

    def finish(self) -> MachineError | None:
        """The first fault; see `Run.finish`."""
        return self._golden.finish()
