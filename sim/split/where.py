"""Where tiles are done: in this process, at workers of this computer, or at those of a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.split.here import Doing, Here
from ctm.sim.split.tile import Settings
from ctm.sim.sweep.packages import CRYPTOGRAPHY, DISTRIBUTED
from ctm.sim.sweep.versions import needed, sources

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True, kw_only=True)
class Where:
    """Workers of this computer, as many as processors if it is None and 0 for this process, or a scheduler's address.

    The files of TLS are those of `ctm.sim.sweep.cluster.workers.Certificates`, for a scheduler.
    """

    workers: int | None = None
    scheduler: str | None = None
    certificates: tuple[str | None, str | None, str | None] = (None, None, None)

    def require(self) -> None:
        """Check that packages are there that it needs; ToolchainError if one is missing."""
        if self.workers != 0:
            DISTRIBUTED.require()
            CRYPTOGRAPHY.require()

    @contextmanager
    def client(self, engine: str, most: int | None = None) -> Iterator["Client | None"]:
        """A client of workers that have what an engine needs, at most `most` on this computer; None: this process.

        Raises
        ------
        SweepError
            The cluster does not respond, or has other versions.
        """
        if self.workers == 0:
            yield None
            return

        # Dask takes half a second to import.
        from ctm.sim.sweep.cluster.workers import Certificates, local_workers, processors, workers_of

        if self.scheduler is None:
            wanted = self.workers or processors()
            with local_workers(wanted if most is None else max(1, min(wanted, most))) as client:
                yield client
        else:
            with workers_of(self.scheduler, Certificates(*self.certificates), needed([engine], area=False)) as client:
                yield client

    @contextmanager
    def doing(self, client: "Client | None", job: LoadedJob, settings: Settings) -> Iterator[Doing]:
        """What does the tiles of a job at the workers of a client that `client` gave."""
        if client is None:
            yield Here(job)
            return

        from ctm.sim.split.handing import AtWorkers

        is_local = self.scheduler is None
        name = "the scheduler of this computer" if is_local else f"the scheduler {self.scheduler}"
        doing = AtWorkers(job, settings, client, name=name, sources="" if is_local else sources())
        try:
            yield doing
        finally:
            doing.drop()
