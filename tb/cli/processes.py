"""Processes of ``ctm``, and signals that they get."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE = 60.0
Process = subprocess.Popen[str]


_HEARING = (
    "import os, signal, sys\n"
    f"for number in {[int(number) for number in STATUS]}: signal.signal(number, signal.SIG_DFL)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


def hearing(command: Sequence[object]) -> list[str]:
    """A command that hears all signals, which a suite in the background, or under nohup, may have to ignore.

    A small program comes before it: a function that runs in a fork of a process with threads may wait forever.
    """
    return [sys.executable, "-I", "-S", "-c", _HEARING, *map(str, command)]


def limited(command: Sequence[object], size: int) -> list[str]:
    """A command that can write no file of more bytes, as on a disk that is full."""
    return ["prlimit", f"--fsize={size}", *map(str, command)]


@contextmanager
def running(command: Sequence[object], **options: Any) -> Iterator[Process]:
    """A process that hears all signals, in a session of its own; what still runs of it at the end is killed."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    with subprocess.Popen(hearing(command), start_new_session=True, **streams) as process:
        try:
            yield process
        finally:
            end_all(process)


def end_all(process: Process) -> None:
    """End a session that may have ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def wait(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        # A condition may start a process of its own.
        time.sleep(0.05)


def session(process: Process) -> list[str]:
    """What still runs in its session; a process that has ended and is not yet reaped does not count."""
    listed = subprocess.run(["ps", "-wweo", "sid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = (line.split(maxsplit=2) for line in listed.stdout.splitlines())
    return [row[2] for row in rows if row[0] == str(process.pid) and not row[1].startswith("Z")]
