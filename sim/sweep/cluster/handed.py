"""Work of a sweep handed to a scheduler of Dask, and what comes back."""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.sweep.cluster.remote import OtherVersionError, compile_model, count_at_worker, give, measure_at_worker
from ctm.sim.sweep.columns import hardware_of
from ctm.sim.sweep.content import packed
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.measuring import ERROR, Plan, Record, failed, uncounted

_LOOK = 0.5
"""Seconds between two looks at whether the scheduler is still there."""
_PATIENCE = 300.0
"""Seconds without any worker after which nobody is thought to come."""

Failed = Callable[[str], Record]
"""The record of a piece of work that failed, for a reason."""


class Handed:
    """Pieces of work that a scheduler has. Leave the context, and it forgets what is not done.

    A worker that dies loses nothing: its work is done again by another one. `name` is the scheduler's, in messages.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._run = secrets.token_hex(4)
        self._open: dict[object, tuple[Future[Any], Failed]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def hand(self, key: str, failed: Failed, function: Callable[..., Any], *arguments: Any) -> None:
        """Hand over ``function(*arguments)``; arguments may be futures of `lend`."""
        future = self.lend(key, function, *arguments)
        self._open[future.key] = future, failed
        future.add_done_callback(self._done.put)

    def lend(self, key: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """What others need; it is kept as long as one of them does."""
        return self._client.submit(function, *arguments, key=f"{key}-{self._run}", pure=False)

    def records(self) -> Iterator[Record]:
        """What each piece gives, as it comes.

        Raises
        ------
        SweepError
            The scheduler has gone away, there is no worker, or one has other sources.
        """
        seen = monotonic()
        while self._open:
            try:
                future = self._done.get(timeout=_LOOK)
            except Empty:
                if self._client.status != "running":
                    raise self._gone() from None
                seen = self._look(seen)
                continue
            seen = monotonic()
            yield self._record(future)

    def drop(self) -> None:
        """Let the scheduler forget what is not done."""
        futures = [future for future, _ in self._open.values()]
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True, reason="the sweep has ended")

    def _look(self, seen: float) -> float:
        """Whether there are workers; a time at which there were."""
        if monotonic() - seen < _PATIENCE:
            return seen
        if not self._client.nthreads():
            raise SweepError(f"{self._name} has had no worker for {_PATIENCE:.0f} s: start some (dask worker)")
        return monotonic()

    def _record(self, future: Future[Any]) -> Record:
        _, failed = self._open.pop(future.key)
        try:
            record: Record = future.result()
            return record
        except KilledWorker as error:
            times = int(error.allowed_failures) + 1
            return failed(f"{times} workers died of it, one after the other; out of memory is the usual reason")
        except OtherVersionError as error:
            raise SweepError(f"a worker of {self._name} cannot help: {error}") from None
        except FutureCancelledError:
            raise self._gone() from None
        except Exception as error:
            # Whatever a worker raises is the reason of one row.
            return failed(str(error) or type(error).__name__)

    def _gone(self) -> SweepError:
        return SweepError(f"{self._name} has gone away")


def do_at_workers(plan: Plan, client: Client, *, name: str, sources: str) -> Iterator[Record]:
    """Do all work of a plan; `sources` as in `measure_at_worker`; errors as `Handed.records`."""
    handed = Handed(client, name)
    try:
        _hand_over(handed, plan, sources)
        yield from handed.records()
    finally:
        handed.drop()


def _hand_over(handed: Handed, plan: Plan, sources: str) -> None:
    jobs: dict[str, Future[Any]] = {}
    models: dict[str, Future[Any]] = {}
    for task in plan.tasks:
        if task.job not in jobs:
            jobs[task.job] = handed.lend(f"job-{task.job}", give, packed(plan.jobs[task.job]))
        model = _model(handed, models, task.config) if task.engine == RtlEngine.name else None
        handed.hand(
            f"point-{task.identity}", partial(failed, task, ERROR),
            measure_at_worker, task, jobs[task.job], model, sources,
        )  # fmt: skip
    for hardware, config in plan.areas.items():
        handed.hand(
            f"area-{hardware}", partial(uncounted, hardware),
            count_at_worker, hardware, config,
        )  # fmt: skip


def _model(handed: Handed, models: dict[str, Future[Any]], config: MachineConfig) -> Future[Any]:
    """The compiled model of a machine, which one worker makes for all."""
    own = hardware_of(config)
    if own not in models:
        models[own] = handed.lend(f"model-{own}", compile_model, config)
    return models[own]
