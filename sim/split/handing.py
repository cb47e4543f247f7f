"""Tiles handed to a scheduler of Dask."""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from distributed import Client, Future

from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.split.here import Maker, without_arrays
from ctm.sim.split.tile import Record, Settings, Tile, failed, run_tile
from ctm.sim.sweep.cluster.handed import Batch, Handed, Provided, WorkItem
from ctm.sim.sweep.cluster.remote import Model, check_sources, compile_model, give, take
from ctm.sim.sweep.content import Parcel, packed, unpacked


class AtWorkers:
    """Tiles at the workers of a scheduler, called `name` in messages.

    `sources` are the client's, empty where client and workers have the same files. A worker that dies loses nothing:
    another one does its tiles again.
    """

    def __init__(self, job: LoadedJob, settings: Settings, client: Client, *, name: str, sources: str) -> None:
        self._handed = Handed(client, name)
        self._settings, self._sources = settings, sources
        self._parcel = packed(without_arrays(job))
        self._job: Future[Any] | None = None
        self._count = 0

    def records(self, makers: Sequence[Maker]) -> Iterator[Record]:
        """What each tile gives, as it comes.

        Raises
        ------
        SweepError
            The scheduler has gone away, there is no worker, or one has other sources.
        """
        if self._job is None:
            self._job = self._handed.submit(f"job-{self._parcel.digest}", give, self._parcel)
        provide = None
        if self._settings.engine == RtlEngine.name:
            provide = partial(self._handed.submit, f"model-{self._count}", compile_model, self._settings.config)
        items = deque(
            WorkItem(partial(self._submit, maker), partial(failed, number)) for number, maker in enumerate(makers)
        )
        yield from self._handed.records([Batch(provide, items)])

    def drop(self) -> None:
        """Cancel what is not done."""
        self._handed.drop()

    def _submit(self, maker: Maker, model: Provided) -> Future[Any]:
        self._count += 1
        return self._handed.submit(f"tile-{self._count}", _run_at_worker, maker(), self._job, model, self._sources)


def _run_at_worker(tile: Tile, job: Parcel, model: Model | None, expected: str) -> Record:
    check_sources(expected)
    if model is not None:
        take(tile.settings.config, model)
    return run_tile(tile, unpacked(job))
