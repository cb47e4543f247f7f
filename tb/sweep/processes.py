"""Sweeps, schedulers and workers as processes of their own, and what a journal has meanwhile."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ctm.sim.sweep.journal import journal_of
from ctm.tb.cli.processes import PATIENCE, Process, running, wait

_CTM = "from ctm.sim.cli import main; main()"


def environment(home: Path) -> dict[str, str]:
    """That of a computer of its own: a home and a cache of its own."""
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home)}
    for folder in (home, home / "cache"):
        folder.mkdir(exist_ok=True)
    return {**os.environ, **own, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def of_python(*arguments: object, **options: Any) -> AbstractContextManager[Process]:
    """Python with these arguments in a session of its own; it has ended when the context does."""
    return running([sys.executable, *arguments], **options)


def of_ctm(*arguments: object, **options: Any) -> AbstractContextManager[Process]:
    """``ctm`` with these arguments, see `of_python`."""
    return of_python("-c", _CTM, *arguments, **options)


sweeping = partial(of_ctm, "sweep")
"""``ctm sweep``."""


def ended(process: Process, patience: float = 2 * PATIENCE) -> tuple[int, str]:
    """Exit status and standard error of a process that ends by itself."""
    _, errors = process.communicate(timeout=patience)
    return process.returncode, errors


def points_in(table: Path) -> int:
    """Points that the journal of a table has."""
    try:
        lines = journal_of(table).read_text().splitlines()
    except FileNotFoundError:
        return 0
    return sum("point" in json.loads(line) for line in lines if line.endswith("}"))


def wait_for_points(table: Path, count: int, process: Process) -> None:
    """Wait until a journal has so many points."""
    wait(lambda: points_in(table) >= count or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def workers_of(process: Process) -> list[int]:
    """Processes of the workers of a sweep."""
    listed = subprocess.run(["ps", "-ww", "-eo", "sid=,pid=,args="], capture_output=True, text=True, check=True)
    rows = (line.split(maxsplit=2) for line in listed.stdout.splitlines())
    return [int(row[1]) for row in rows if row[0] == str(process.pid) and "spawn_main" in row[2]]


@contextmanager
def scheduler(home: Path, *options: object) -> Iterator[tuple[str, Process]]:
    """A scheduler of Dask's own command: its address, and its process."""
    file = home / "scheduler.json"
    with _dask("scheduler", home, "--port", "0", "--no-dashboard", "--scheduler-file", file, *options) as process:
        wait(lambda: file.exists() and file.read_text().endswith("}"))
        yield json.loads(file.read_text())["address"], process


def worker(home: Path, address: str, *options: object) -> AbstractContextManager[Process]:
    """A worker of Dask's own command."""
    return _dask("worker", home, address, "--nthreads", "1", "--no-dashboard", "--no-nanny", *options)


def _dask(name: str, home: Path, *arguments: object) -> AbstractContextManager[Process]:
    own = environment(home)
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *map(str, arguments)]
    if name == "worker":
        command += ["--local-directory", str(home)]
    return running(command, env=own, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
