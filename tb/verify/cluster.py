"""Campaigns on workers of Dask: of this computer, or of a scheduler that shares no folder with the client."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from distributed import Client, Future

from ctm.sim.compiled.tools.package import LLVM, VERILATOR, YOSYS
from ctm.sim.sweep.cluster.handed import Batch, Handed, Provided, WorkItem
from ctm.sim.sweep.cluster.workers import Certificates, local_workers, processors, workers_of
from ctm.sim.sweep.error import SweepError
from ctm.tb.verify.campaign import Campaign
from ctm.tb.verify.session import REDUCTION_SECONDS, Session, Task
from ctm.tb.verify.sources import sources
from ctm.tb.verify.worker import compile_model, reduce_case, run_batch

_NEEDED = {package.distribution: package.extra for package in (VERILATOR, YOSYS, LLVM)}
"""Packages that a worker must have, and the extra of each."""
_LEAST_SPARE = 2


@dataclass(frozen=True)
class Where:
    """What --workers, --scheduler and the options of TLS say; `certificates` are authority, own one and key."""

    workers: int | None
    scheduler: str | None
    certificates: tuple[Path | None, Path | None, Path | None]


def run_at_workers(session: Session, where: Where, say: Callable[[str], None], tell: Callable[[], None]) -> None:
    """Do everything on a cluster; `say` is called with a sentence, `tell` after each task.

    Raises
    ------
    SweepError
        The cluster cannot be used, or has gone away.
    """
    with _client(where, say) as client:
        if where.scheduler is None:
            # Its workers have the same files.
            _Run(session, client, "the scheduler of this computer", "").go(say, tell)
        else:
            _Run(session, client, f"the scheduler {where.scheduler}", sources()).go(say, tell)


@contextmanager
def _client(where: Where, say: Callable[[str], None]) -> Iterator[Client]:
    if where.scheduler is None:
        count = where.workers or processors()
        workers = f"{count} worker{'s' * (count != 1)}"
        say(f"starting {workers}; models that are new are compiled first (a minute or two for each)")
        with local_workers(count) as client:
            yield client
        return
    files = (None if file is None else str(file) for file in where.certificates)
    with workers_of(where.scheduler, Certificates(*files), _NEEDED) as client:
        _check_checkouts(client)
        yield client


def _check_checkouts(client: Client) -> None:
    """Check that all workers have this checkout.

    Raises
    ------
    SweepError
        One has another, or none.
    """
    for name, found in client.run(_probe()).items():
        if found != sources():
            raise SweepError(f"worker {name} cannot help: it has {found}, not the client's {sources()}")


def _probe() -> Callable[[], str]:
    """A function that tells the sources of where it runs. It travels as code: the tests may not be there."""

    def probe() -> str:
        try:
            from ctm.tb.verify.sources import sources
        except ImportError:
            return "no tests, which only a checkout has"
        return sources()

    return probe


class _Run:
    """A session on a client's workers, a few tasks at a time; `expected` as in `run_batch`."""

    def __init__(self, session: Session, client: Client, name: str, expected: str) -> None:
        self._session, self._expected = session, expected
        self._handed = Handed(client, name)
        self._number = 0
        self._outstanding: Counter[str] = Counter()
        self._models: dict[str, Future[Any]] = {}
        self._batches = {name: self._lot(name, tally.campaign) for name, tally in session.tallies.items()}

    def go(self, say: Callable[[str], None], tell: Callable[[], None]) -> None:
        """Hand over tasks and take their records until there is nothing more to do; see `run_at_workers`."""
        try:
            self._fill()
            while (record := next(self._handed.records(list(self._batches.values())), None)) is not None:
                self._outstanding[record["campaign"]] -= 1
                if not self._session.is_begun and self._has_models():
                    self._session.begin()
                    say("all models are compiled; the clock starts")
                self._session.take(record)
                tell()
                self._fill()
        finally:
            self._handed.drop()

    def _lot(self, name: str, campaign: Campaign) -> Batch:
        """Tasks of a campaign; one worker compiles its model for all."""
        return Batch(partial(self._lend, name) if campaign.has_model else None)

    def _lend(self, campaign: str) -> Future[Any]:
        """The task that compiles a campaign's model; it is kept, because batches come again and again."""
        if campaign not in self._models:
            self._models[campaign] = self._handed.submit(f"model-{campaign}", compile_model, campaign, self._expected)
        return self._models[campaign]

    def _has_models(self) -> bool:
        """Whether each campaign has its model, or none, or one that cannot be made."""
        wanted = [name for name, batch in self._batches.items() if batch.provide is not None]
        return all(name in self._models and self._models[name].status != "pending" for name in wanted)

    def _fill(self) -> None:
        """Keep as many tasks outstanding as the scheduler takes, and a first one of each campaign."""
        threads = max(1, self._handed.threads)
        most = max(threads + max(_LEAST_SPARE, threads // 4), len(self._batches))
        while self._outstanding.total() < most:
            task = self._session.next_task(self._outstanding)
            if task is None:
                return
            self._outstanding[task.campaign] += 1
            self._batches[task.campaign].items.append(WorkItem(partial(self._submit, task), task.lost))

    def _submit(self, task: Task, model: Provided) -> Future[Any]:
        self._number += 1
        key, failure = f"{task.campaign}-{self._number}", task.failure
        if failure is None:
            return self._handed.submit(key, run_batch, task.campaign, task.seeds, model, self._expected)
        return self._handed.submit(
            key, reduce_case, task.campaign, failure.case, failure.difference, failure.kind, REDUCTION_SECONDS, model,
            self._expected,
        )  # fmt: skip
