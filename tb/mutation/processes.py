"""Processes of their own for mutants: forked, limited in time, with own files, and gone with all that they started."""

import contextlib
import math
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

_UNSEEN = 0.01
"""Seconds for which the end of a process may be unseen."""
_WAITING = 5
"""A process may be there this many times as long as its processor may work for it: others have work, too."""
_PATIENCE = 10
"""Seconds."""
TIMEOUT = -1
"""The status of a process that was ended because of its time."""


@dataclass(frozen=True)
class Task(Generic[Item]):
    """What a process does: `work` returns its status; `seconds` of its processor are the most that it may take."""

    item: Item
    work: Callable[[], int]
    seconds: float


def ended(tasks: list[Task[Item]], jobs: int) -> Iterator[tuple[Item, int]]:
    """Run tasks, `jobs` at a time, each with temporary files and a cache of compiled things of its own.

    Gives their statuses in the order of their ends.
    """
    waiting = list(reversed(tasks))
    running: dict[int, tuple[Task[Item], float, Path]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                folder = Path(tempfile.mkdtemp(prefix="ctm-mutant-"))
                running[_forked(task, folder)] = task, time.monotonic() + _WAITING * task.seconds, folder
            for child, (task, deadline, _) in list(running.items()):
                status = _status(child, deadline)
                if status is not None:
                    _clear(child, running.pop(child)[2])
                    yield task.item, status
            time.sleep(_UNSEEN)
    finally:
        for child, (_, _, folder) in running.items():
            _clear(child, folder)


def _forked(task: Task[Any], folder: Path) -> int:
    """Start a process, the first of its own group; returns its number."""
    child = os.fork()
    if child:
        # Both set it, so that it is set when either goes on.
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpgid(child, child)
        return child
    status = 1
    try:
        os.setpgid(0, 0)
        silence()
        _have_own(folder)
        most = math.ceil(task.seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        status = task.work()
    finally:
        os._exit(status)


def _status(child: int, deadline: float) -> int | None:
    """The status of a process, None while it runs."""
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return TIMEOUT
        return 1 if status and not os.WIFEXITED(status) else os.WEXITSTATUS(status)
    if time.monotonic() < deadline:
        return None
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMEOUT


def _clear(child: int, folder: Path) -> None:
    """End what a process has started, and remove its files."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _have_own(folder: Path) -> None:
    """Use own temporary files and an own cache, with what the usual one has that is made of nothing of the project."""
    cache = folder / "cache" / "ctm"
    cache.mkdir(parents=True)
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctm"
    for file in usual.glob("runtime-*"):
        shutil.copy2(file, cache)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None


def silence() -> None:
    """Print nothing from now on, and read nothing."""
    sys.stdout.flush()
    sys.stderr.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)


def streamed(function: Callable[[Callable[[Any], None]], None]) -> Iterator[Any]:
    """What a function sends, which it does by calling its argument, from a process of its own, which prints nothing.

    Raises
    ------
    RuntimeError
        It raises an exception, whose text this has.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with os.fdopen(writer, "wb") as sent:

            def send(each: Any) -> None:
                pickle.dump((None, each), sent)
                sent.flush()

            try:
                silence()
                function(send)
            except BaseException:
                pickle.dump((traceback.format_exc(), None), sent)
            sent.flush()
            os._exit(0)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as stream:
            while True:
                try:
                    problem, each = pickle.load(stream)
                except EOFError:
                    return
                if problem:
                    raise RuntimeError(problem)
                yield each
    finally:
        _end(child)


def _end(child: int) -> None:
    """End a process that may have ended; it has some seconds to end what it started."""
    end = time.monotonic() + _PATIENCE
    os.kill(child, signal.SIGTERM)
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(_UNSEEN)
