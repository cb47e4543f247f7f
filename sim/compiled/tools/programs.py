"""Tools: programs that run in parallel, and end when their caller does not wait for them any more."""

import os
import signal
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Self

from ctm.sim.compiled.error import ToolchainError

_LINES_SHOWN = 20
_NOT_STARTED = -signal.SIGTERM

Result = subprocess.CompletedProcess[bytes]


class Tools:
    """Starts tools, `count` at a time; leaving the context ends those that still run.

    They are started in threads, because a signal raises its exception in the main thread: there it could come between a
    tool's start and its entry in `_running`. Each leads a process group, so that the programs that a compiler starts
    end with it.
    """

    def __init__(self, count: int = 1) -> None:
        self._threads = ThreadPoolExecutor(max_workers=count)
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_over = True
            for process in self._running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
        self._threads.shutdown(cancel_futures=True)

    def start(
        self, command: Sequence[str], folder: Path | None = None, *, environment: dict[str, str] | None = None,
        given: bytes = b"",
    ) -> Future[Result]:  # fmt: skip
        """Run a command in a folder once fewer than `count` run; `environment` is added, `given` is standard input."""
        return self._threads.submit(self._run, command, folder, os.environ | (environment or {}), given)

    def _run(self, command: Sequence[str], folder: Path | None, environment: dict[str, str], given: bytes) -> Result:
        pipe = subprocess.PIPE
        with self._lock:
            if self._is_over:
                return Result(command, _NOT_STARTED, b"", b"")
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, process_group=0
            )
            self._running.add(process)
        printed, errors = process.communicate(given)
        with self._lock:
            self._running.remove(process)
        return Result(command, process.returncode, printed, errors)


def run(
    command: Sequence[str], folder: Path, *, environment: dict[str, str] | None = None, name: str | None = None
) -> None:
    """Run a tool in a folder; `name` is what a message calls it, if not as the command's first word does.

    Raises
    ------
    ToolchainError
        It failed; the message has the last lines of what it printed.
    """
    with Tools() as tools:
        check(tools.start(command, folder, environment=environment).result(), name)


def check(result: Result, name: str | None = None) -> None:
    """Raise the error of a tool that failed, see `run`."""
    if result.returncode:
        printed = last_lines(result.stdout + result.stderr)
        raise ToolchainError(f"{name or Path(result.args[0]).name} failed:\n{printed}")


def last_lines(printed: bytes) -> str:
    """The end of what a tool printed, which says best why it failed."""
    return "\n".join(printed.decode(errors="replace").splitlines()[-_LINES_SHOWN:])
