"""The faults of all wavefronts of a program on the golden model: hardware may report any of them."""

from collections.abc import Sequence
from typing import Any

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch


class AllFaults:
    """An observer that keeps the faults of all wavefronts: status, client, PC and pair."""

    def __init__(self) -> None:
        self.found: set[tuple[Status, BusClient | None, int, int, int]] = set()

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """Nothing."""

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """Keep it."""
        for i, j in zip(batch.i[:: batch.lanes], batch.j[:: batch.lanes], strict=True):
            self.found.add((status, client, batch.control.pc, int(i), int(j)))

    def ended(self, batch: Batch[Any]) -> None:
        """Nothing."""
