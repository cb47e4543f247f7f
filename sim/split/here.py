"""Tiles done in this process, and the protocol of whatever does tiles."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.split.tile import Record, Tile, run_tile

Maker = Callable[[], Tile]
"""Makes a tile with its arrays, which are not needed before it begins."""


class Doing(Protocol):
    """Where tiles are done."""

    def records(self, makers: Sequence[Maker]) -> Iterator[Record]:
        """What each tile gives, in any order; `SweepError` where no more can be done."""


class Here:
    """Tiles one after the other, in this process."""

    def __init__(self, job: LoadedJob) -> None:
        self._job = without_arrays(job)

    def records(self, makers: Sequence[Maker]) -> Iterator[Record]:
        """What each tile gives, in order."""
        for maker in makers:
            yield run_tile(maker(), self._job)


def without_arrays(job: LoadedJob) -> LoadedJob:
    """What all tiles of a job need: its programs and constants."""
    return replace(job, inputs=(), outputs=(), files={}, warnings=())
