"""Work of a sweep at a scheduler of Dask, and its records.

A scheduler assigns work to workers early, and moves little afterwards. So it gets only a few more points than there are
workers: a worker that joins later, or is faster, gets the next ones.
"""

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.sweep.cluster.remote import OtherVersionError, compile_model, count_at_worker, give, measure_at_worker
from ctm.sim.sweep.columns import hardware_of
from ctm.sim.sweep.content import packed
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.measuring import ERROR, Plan, Record, Task, failed, uncounted

_LOOK = 0.5
"""Seconds between two looks at whether the scheduler is still there."""
_COUNT = 2.0
"""Seconds between two counts of the workers."""
_PATIENCE = 300.0
"""Seconds without any worker after which the cluster counts as lost."""
_LEAST_SPARE = 2

Provided = Future[Any] | None
"""A dependency of the items of a batch at the scheduler; None without one."""


@dataclass(frozen=True)
class WorkItem:
    """A point or an area: a function that submits it with its dependency, and one for the record of a failure."""

    submit: Callable[[Provided], Future[Any]]
    failed: Callable[[str], Record]


@dataclass(eq=False)
class Batch:
    """Items with the same dependency, which `provide` submits."""

    provide: Callable[[], Future[Any]] | None = None
    items: deque[WorkItem] = field(default_factory=deque)
    provided: Provided = None
    open: int = 0
    """Items that the scheduler has."""

    @property
    def is_ready(self) -> bool:
        """Whether the dependency is there, so that items can begin at once."""
        return self.provide is None or (self.provided is not None and self.provided.done())

    @property
    def is_pending(self) -> bool:
        """Whether the dependency is being made."""
        return self.provided is not None and not self.provided.done()


class Handed:
    """Points and areas that a scheduler has, a few at a time.

    A worker that dies loses nothing: another one runs its items again. `name` is the scheduler's, in messages.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._run = secrets.token_hex(4)
        self._open: dict[object, tuple[Future[Any], WorkItem, Batch]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._threads, self._counted, self._seen = 0, 0.0, monotonic()

    @property
    def threads(self) -> int:
        """Threads of all workers, as they were counted last; 0 before the first count."""
        return self._threads

    def submit(self, key: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """``function(*arguments)`` at a worker; arguments may be futures."""
        return self._client.submit(function, *arguments, key=f"{key}-{self._run}", pure=False)

    def records(self, batches: list[Batch]) -> Iterator[Record]:
        """The record of each item, in the order in which they come.

        Raises
        ------
        SweepError
            The scheduler has gone away, there is no worker, or one has other sources.
        """
        while True:
            self._count()
            batches = self._fill(batches)
            if not self._open:
                return
            try:
                future = self._done.get(timeout=_LOOK)
            except Empty:
                if self._client.status != "running":
                    raise self._gone() from None
            else:
                yield self._record(future)

    def drop(self) -> None:
        """Cancel what the scheduler has not done."""
        futures = [future for future, _, _ in self._open.values()]
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True, reason="the sweep has ended")

    def _fill(self, batches: list[Batch]) -> list[Batch]:
        """Submit as many items as the scheduler should have; the batches that are not complete."""
        threads = max(1, self._threads)
        most = threads + max(_LEAST_SPARE, threads // 4)
        ready = sum(batch.open for batch in batches if batch.is_ready)
        pending = sum(batch.is_pending for batch in batches)
        for batch in batches:
            if batch.provide is not None and batch.provided is None and batch.items:
                if pending >= threads or ready >= most:
                    continue
                batch.provided, pending = batch.provide(), pending + 1
            while batch.items and batch.open < most and (not batch.is_ready or ready < most):
                self._hand(batch, batch.items.popleft())
                ready += batch.is_ready
            if not batch.items:
                # Tasks that still need it keep it.
                batch.provided = batch.provided if batch.is_pending else None
        return [batch for batch in batches if batch.items or batch.open]

    def _hand(self, batch: Batch, item: WorkItem) -> None:
        future = item.submit(batch.provided)
        batch.open += 1
        self._open[future.key] = future, item, batch
        future.add_done_callback(self._done.put)

    def _count(self) -> None:
        """Count the threads of all workers now and then."""
        now = monotonic()
        if now - self._counted < _COUNT:
            return
        try:
            self._threads = sum(self._client.nthreads().values())
        except (OSError, TimeoutError):
            raise self._gone() from None
        self._counted = now
        if self._threads:
            self._seen = now
        elif now - self._seen > _PATIENCE:
            raise SweepError(f"{self._name} has had no worker for {_PATIENCE:.0f} s: start some (dask worker)")

    def _record(self, future: Future[Any]) -> Record:
        _, item, batch = self._open.pop(future.key)
        batch.open -= 1
        try:
            record: Record = future.result()
            return record
        except KilledWorker as error:
            times = int(error.allowed_failures) + 1
            return item.failed(f"{times} workers died of it, one after the other; out of memory is the usual reason")
        except OtherVersionError as error:
            raise SweepError(f"a worker of {self._name} cannot help: {error}") from None
        except FutureCancelledError:
            raise self._gone() from None
        except Exception as error:
            # Whatever a worker raises is the reason of one row.
            return item.failed(str(error) or type(error).__name__)

    def _gone(self) -> SweepError:
        return SweepError(f"{self._name} has gone away")


def do_at_workers(plan: Plan, client: Client, *, name: str, sources: str) -> Iterator[Record]:
    """Do all work of a plan; `sources` as in `measure_at_worker`; errors as `Handed.records`."""
    handed = Handed(client, name)
    jobs: dict[str, Future[Any]] = {}

    def submit(task: Task, model: Provided) -> Future[Any]:
        if task.job not in jobs:
            jobs[task.job] = handed.submit(f"job-{task.job}", give, packed(plan.jobs[task.job]))
        return handed.submit(f"point-{task.identity}", measure_at_worker, task, jobs[task.job], model, sources)

    batches: dict[str, Batch] = {}
    for task in plan.tasks:
        own = hardware_of(task.config) if task.engine == RtlEngine.name else ""
        if own not in batches:
            # One worker compiles a machine's model for all.
            provide = partial(handed.submit, f"model-{own}", compile_model, task.config) if own else None
            batches[own] = Batch(provide)
        batches[own].items.append(WorkItem(partial(submit, task), partial(failed, task, ERROR)))
    areas = Batch()
    for own, config in plan.areas.items():
        count = partial(handed.submit, f"area-{own}", count_at_worker, own, config)
        areas.items.append(WorkItem(lambda _, count=count: count(), partial(uncounted, own)))  # type: ignore[misc]
    try:
        yield from handed.records([*batches.values(), areas])
    finally:
        handed.drop()
