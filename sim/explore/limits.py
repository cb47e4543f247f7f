"""A process of its own for each job, with limits of time, memory and files, that is killed with all that it started."""

import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Self

from ctm.rtl.isa.limits import ADDRESS_SPACE

_POLL_SECONDS = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KEPT = ("HOME", "XDG_CACHE_HOME", "PATH", "LANG", "PYTHONPATH", "VIRTUAL_ENV")
"""What a worker gets of the environment; nothing else can change what a compiler reads."""
_SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
GIVEN_UP = "it was given up: there is something newer to do"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a job: seconds by the clock, and of each process; bytes of memory, of all its processes together.

    `mapped` is address space that may be had without memory: that of the machine, of which only written pages count.
    """

    seconds: float = 10
    memory: int = 1 << 30
    mapped: int = ADDRESS_SPACE
    file: int = 1 << 26


class LimitError(Exception):
    """A job that took more than its limits, or that ended without a response; the message is a sentence."""


class Worker:
    """A process that waits for one request and responds to it; leaving the context ends it.

    It leads a session, so that what it starts is found, whatever process groups there are. Its folder is its own, and
    goes with it.
    """

    def __init__(self, command: Sequence[str], limits: Limits, environment: Mapping[str, str] = os.environ) -> None:
        self._limits = limits
        self._folder = tempfile.TemporaryDirectory(prefix="ctm-explore-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        kept = {name: environment[name] for name in _KEPT if name in environment}
        self._response, self._errors = folder / "response", folder / "errors"
        with self._response.open("wb") as response, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, cwd=folder, env={**kept, **_SINGLE, "TMPDIR": str(folder)}, stdin=subprocess.PIPE,
                stdout=response, stderr=errors, start_new_session=True,
            )  # fmt: skip
        # It reads nothing of a request before that.
        with suppress(ProcessLookupError):
            self._limit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: bytes, stop: Event | None = None) -> bytes:
        """The response to a request.

        Raises
        ------
        LimitError
            It exceeded a limit, `stop` was set, or it ended without a response.
        """
        end = time.monotonic() + self._limits.seconds
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(request)
            self._process.stdin.close()
        while self._process.poll() is None:
            if stop is not None and stop.is_set():
                raise LimitError(GIVEN_UP)
            if time.monotonic() > end:
                raise LimitError(f"it did not end within {self._limits.seconds:g} seconds")
            if resident(self._process.pid) > self._limits.memory:
                raise self._too_much
            time.sleep(_POLL_SECONDS)
        return self._result()

    def _result(self) -> bytes:
        status, printed = self._process.returncode, self._errors.read_bytes()
        if status == -signal.SIGXCPU:
            raise LimitError(f"it did not end within {self._limits.seconds:g} seconds")
        if b"MemoryError" in printed or status == -signal.SIGKILL:
            raise self._too_much
        if status:
            last = printed.decode(errors="replace").strip().rpartition("\n")[2]
            raise LimitError(f"it ended with status {status}: {last[:500]}")
        return self._response.read_bytes()

    @property
    def _too_much(self) -> LimitError:
        return LimitError(f"it takes more than {self._limits.memory >> 20:,} MiB of memory")

    def _limit(self) -> None:
        limits = self._limits
        seconds = int(limits.seconds) + 1
        for kind, value in (
            (resource.RLIMIT_AS, limits.memory + limits.mapped),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, limits.file),
            (resource.RLIMIT_CORE, 0),
        ):
            _, most = resource.prlimit(self._process.pid, kind)
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.prlimit(self._process.pid, kind, (value, value))

    def close(self) -> None:
        """End it, and everything that it has started."""
        while found := members(self._process.pid):
            for process in found:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            # Zombies of its children are its own, and go with it.
            self._process.poll()
            time.sleep(_POLL_SECONDS / 4)
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        self._folder.cleanup()


def members(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # The name in parentheses may hold anything.
                state, _, _, own = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
                if int(own) == session and state not in "ZX":
                    found.append(int(entry.name))
    return found


def resident(session: int) -> int:
    """Bytes of memory that the processes of a session hold together."""
    total = 0
    for process in members(session):
        with suppress(OSError):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    return total
