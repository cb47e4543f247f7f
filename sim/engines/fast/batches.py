"""Programs that run on the golden model."""

from typing import Any

from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.processor import BATCH_LANES


class Batches:
    """A program on the golden model, in the batches of wavefronts that the golden engine makes.

    It has the methods of a compiled run. The order of batches is visible where wavefronts read what others write: its
    results are then those of the golden engine.
    """

    def __init__(self, golden: ArrayRun[Any, Any]) -> None:
        self._golden = golden

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts at once, in batches of at most `BATCH_LANES` lanes, in their order."""
        count, size = wavefronts.order.size, BATCH_LANES // wavefronts.lanes
        for first in range(0, count, size):
            self._golden.add(wavefronts.slice(first, first + size))

    def finish(self) -> MachineError | None:
        """The first fault in the order of wavefronts, None without one."""
        return self._golden.finish()
