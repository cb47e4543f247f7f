"""Clusters: one of processes of this computer, or a user's own with its scheduler."""

import logging
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

import dask
from distributed import Client, LocalCluster, Nanny, Worker, WorkerPlugin
from distributed.security import Security

from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.versions import difference

_PATIENCE = 10.0
"""Seconds in which a scheduler must respond."""
_NO_PAGES: dict[str, list[str]] = {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}
"""Dask's pages about itself know no certificates."""
_GRACE = 0.5
"""Seconds in which a worker of this computer ends by itself."""
_LOGGERS = ("distributed", "tornado", "asyncio", "bokeh")
_MISSING = "missing"


@dataclass(frozen=True)
class Certificates:
    """Files of TLS, as PEM: the authority's certificate, the client's, and its key. None: as Dask is configured."""

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None

    def security(self) -> Security | None:
        """What Dask wants; None: as it is configured."""
        if self.authority is None and self.certificate is None and self.key is None:
            return None
        return Security(
            tls_ca_file=self.authority, tls_client_cert=self.certificate, tls_client_key=self.key,
            require_encryption=True,
        )  # fmt: skip


class _ShortNanny(Nanny):
    """Ends a worker in the middle of a point: a cluster that is closed needs no results."""

    async def close(self, timeout: float | None = None, reason: str = "nanny-close") -> Any:
        """Be told to end; `timeout` is what Dask would wait."""
        return await super().close(timeout=_GRACE, reason=reason)


class LocalWorker(WorkerPlugin):
    """Gives each worker of this computer one of its processors: engines use as many threads as they may.

    Ctrl-C, which a terminal sends to all processes, is for the client: it ends the workers in order.
    """

    name = "ctm-local-worker"

    def __init__(self, processors: list[int]) -> None:
        self._processors = processors

    def setup(self, worker: Worker) -> None:
        """Be told of a worker that begins."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        number = int(worker.name)
        os.sched_setaffinity(0, {self._processors[number % len(self._processors)]})


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def local_workers(count: int) -> Iterator[Client]:
    """A client of so many workers on this computer, each a process with one thread; they end with the context.

    They speak TLS with certificates of their own, so that no other user of the computer can make them run something.
    """
    own = sorted(os.sched_getaffinity(0))
    # Two sweeps at once do not begin with the same processor.
    first = os.getpid() % len(own)
    with (
        _without_logs(),
        dask.config.set(_NO_PAGES),
        tempfile.TemporaryDirectory(prefix="ctm-sweep-", ignore_cleanup_errors=True) as folder,
        ExitStack() as ending,
    ):
        with _without_interrupts():
            cluster = LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0,
                local_directory=folder, security=True, silence_logs=logging.CRITICAL, host="127.0.0.1",
                worker_class=_ShortNanny, scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
            ending.callback(_close, cluster)
        with Client(cluster, set_as_default=False) as client:
            client.register_plugin(LocalWorker(own[first:] + own[:first]))
            yield client


def _close(cluster: LocalCluster) -> None:
    # Workers that take long to end are ended with this process.
    with suppress(TimeoutError):
        cluster.close(timeout=_PATIENCE)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C in threads and processes that begin here; this thread gets it afterwards.

    A worker hears it before `LocalWorker` is there, else, and says in a traceback what it was importing.
    """
    # It would be started with the first worker, and lets its thread hear signals again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def workers_of(address: str, certificates: Certificates, needs: Mapping[str, str]) -> Iterator[Client]:
    """A client of a scheduler that is there already, whose workers have the same versions and what is needed.

    Raises
    ------
    SweepError
        It does not respond, or a worker has other versions.
    """
    with _without_logs():
        try:
            client = Client(
                address, timeout=_PATIENCE, set_as_default=False, security=certificates.security(), name="ctm-sweep",
            )  # fmt: skip
        except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
            raise SweepError(f"--scheduler {address}: no scheduler responds there: {_first_line(error)}") from None
        with client:
            _check(client, address, needs)
            yield client


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]


def _check(client: Client, address: str, needs: Mapping[str, str]) -> None:
    found = {f"the scheduler {address}": client.run_on_scheduler(_probe())}
    found |= {f"worker {name}": versions for name, versions in client.run(_probe()).items()}
    for name, versions in found.items():
        if _MISSING in versions:
            problem: str | None = f"it has no ctm-machine with sweeps ({versions[_MISSING]}): install it there"
        else:
            problem = difference(versions, {} if name.startswith("the") else needs)
        if problem is not None:
            raise SweepError(f"{name} cannot help: {problem}")


def _probe() -> Any:
    """A function that tells the versions of where it runs. It travels as code: the package may not be there."""

    def probe() -> dict[str, str | None]:
        try:
            from ctm.sim.sweep.versions import versions
        except ImportError as error:
            return {"missing": str(error)}
        return versions()

    return probe


@contextmanager
def _without_logs() -> Iterator[None]:
    """Leave out what Dask logs of workers that come and go: the sweep says in its own words what matters."""
    # Dask sets levels of single loggers, too.
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
    before = {name: logging.getLogger(name).level for name in (*_LOGGERS, *known)}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
