"""A pulse: signs of life of a batch, whose wavefronts may run for minutes."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch

PERIOD = 0.25
"""Seconds between two calls."""


class Pulse:
    """An observer that calls `progress` every PERIOD: with 0, because wavefronts count when their batch has ended."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress
        self._last = time.monotonic()

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`."""
        now = time.monotonic()
        if now - self._last >= PERIOD:
            self._last = now
            self._progress(0)

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""


def pulses(progress: Callable[[int], None] | None) -> tuple[Pulse, ...]:
    """The observers that `progress` needs: none without it."""
    return () if progress is None else (Pulse(progress),)
