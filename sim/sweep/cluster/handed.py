"""Work of a sweep handed to a scheduler of Dask, and what comes back.

A scheduler decides early who does what, and moves little afterwards. So it has only some more points than there are
workers: a worker that comes later, or is faster, gets the next ones.
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

Lent = Future[Any] | None
"""What a lot needs, if it needs anything."""


@dataclass(frozen=True)
class Piece:
    """A point or an area: how it is handed over with what its lot needs, and its record if it fails for a reason."""

    submit: Callable[[Lent], Future[Any]]
    failed: Callable[[str], Record]


@dataclass(eq=False)
class Lot:
    """Pieces that need the same; `lend` makes that."""

    lend: Callable[[], Future[Any]] | None = None
    pieces: deque[Piece] = field(default_factory=deque)
    lent: Lent = None
    open: int = 0
    """Pieces that the scheduler has."""

    @property
    def is_ready(self) -> bool:
        """Whether nothing has to be made before its pieces can begin."""
        return self.lend is None or (self.lent is not None and self.lent.done())

    @property
    def is_pending(self) -> bool:
        """Whether what it needs is being made."""
        return self.lent is not None and not self.lent.done()


class Handed:
    """Points and areas that a scheduler has, a few at a time.

    A worker that dies loses nothing: another one does its pieces again. `name` is the scheduler's, in messages.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._run = secrets.token_hex(4)
        self._open: dict[object, tuple[Future[Any], Piece, Lot]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._threads, self._counted, self._seen = 0, 0.0, monotonic()

    @property
    def threads(self) -> int:
        """Threads of all workers, as they were counted last; 0 before the first count."""
        return self._threads

    def submit(self, key: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """``function(*arguments)`` at a worker; arguments may be futures."""
        return self._client.submit(function, *arguments, key=f"{key}-{self._run}", pure=False)

    def records(self, lots: list[Lot]) -> Iterator[Record]:
        """What each piece gives, as it comes.

        Raises
        ------
        SweepError
            The scheduler has gone away, there is no worker, or one has other sources.
        """
        while True:
            self._count()
            lots = self._fill(lots)
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

    def _fill(self, lots: list[Lot]) -> list[Lot]:
        """Hand over what there is room for; the lots of which something is left."""
        threads = max(1, self._threads)
        most = threads + max(_LEAST_SPARE, threads // 4)
        ready = sum(lot.open for lot in lots if lot.is_ready)
        pending = sum(lot.is_pending for lot in lots)
        for lot in lots:
            if lot.lend is not None and lot.lent is None and lot.pieces:
                if pending >= threads or ready >= most:
                    continue
                lot.lent, pending = lot.lend(), pending + 1
            while lot.pieces and lot.open < most and (not lot.is_ready or ready < most):
                self._hand(lot, lot.pieces.popleft())
                ready += lot.is_ready
            if not lot.pieces:
                # Tasks that still need it keep it.
                lot.lent = lot.lent if lot.is_pending else None
        return [lot for lot in lots if lot.pieces or lot.open]

    def _hand(self, lot: Lot, piece: Piece) -> None:
        future = piece.submit(lot.lent)
        lot.open += 1
        self._open[future.key] = future, piece, lot
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
        _, piece, lot = self._open.pop(future.key)
        lot.open -= 1
        try:
            record: Record = future.result()
            return record
        except KilledWorker as error:
            times = int(error.allowed_failures) + 1
            return piece.failed(f"{times} workers died of it, one after the other; out of memory is the usual reason")
        except OtherVersionError as error:
            raise SweepError(f"a worker of {self._name} cannot help: {error}") from None
        except FutureCancelledError:
            raise self._gone() from None
        except Exception as error:
            # Whatever a worker raises is the reason of one row.
            return piece.failed(str(error) or type(error).__name__)

    def _gone(self) -> SweepError:
        return SweepError(f"{self._name} has gone away")


def do_at_workers(plan: Plan, client: Client, *, name: str, sources: str) -> Iterator[Record]:
    """Do all work of a plan; `sources` as in `measure_at_worker`; errors as `Handed.records`."""
    handed = Handed(client, name)
    jobs: dict[str, Future[Any]] = {}

    def submit(task: Task, model: Lent) -> Future[Any]:
        if task.job not in jobs:
            jobs[task.job] = handed.submit(f"job-{task.job}", give, packed(plan.jobs[task.job]))
        return handed.submit(f"point-{task.identity}", measure_at_worker, task, jobs[task.job], model, sources)

    lots: dict[str, Lot] = {}
    for task in plan.tasks:
        own = hardware_of(task.config) if task.engine == RtlEngine.name else ""
        if own not in lots:
            # One worker compiles a machine's model for all.
            lend = partial(handed.submit, f"model-{own}", compile_model, task.config) if own else None
            lots[own] = Lot(lend)
        lots[own].pieces.append(Piece(partial(submit, task), partial(failed, task, ERROR)))
    areas = Lot()
    for own, config in plan.areas.items():
        count = partial(handed.submit, f"area-{own}", count_at_worker, own, config)
        areas.pieces.append(Piece(lambda _, count=count: count(), partial(uncounted, own)))  # type: ignore[misc]
    try:
        yield from handed.records([*lots.values(), areas])
    finally:
        handed.drop()
