"""The threads of an engine: they run compiled code, and no Python, so that they never wait for Python's lock.

A thread of Python begins as native code that reads pointers from a pipe: each is a table, which names the code that it
is for. When that code is done the pointer goes back by another pipe. So to begin and to wait are one system call each.

As many threads as there are processors have one each: Linux wakes them on that of the calling thread, one after the
other, and lets another processor help only when some milliseconds have passed, which is longer than most work here.
"""

import os
import signal
import struct
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Thread

from ctm.sim.engines.fast.compiler import Code
from ctm.sim.engines.fast.parameters import Slot, Table

_NAME = "ctm-fast"
_POINTER = struct.Struct("@P")
_ENDED_AT_ONCE = 64
"""Pointers that are read together."""
_OTHERS = signal.valid_signals() - {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}
"""Signals that are not a thread's own: they are for Python's main thread, which may be waiting."""


class Workers:
    """Threads that run what tables describe, in the order in which they are given."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._team: _Team | None = None
        self._running: dict[int, Table] = {}

    def submit(self, code: Code, tables: Mapping[int, Table]) -> None:
        """Run `code`, which all of them name, on what each table describes, by their addresses.

        All of it has to stay until `wait` or `stop`.
        """
        if self._team is None or self._team.process != os.getpid():
            # Another process has no threads but the one that made it.
            self._running.clear()
            self._team = _Team(code, self.threads)
        self._running.update(tables)
        os.write(self._team.pipes.jobs, b"".join(map(_POINTER.pack, tables)))

    def wait(self, address: int) -> None:
        """Wait until the code of the table at an address is done."""
        while address in self._running:
            assert self._team is not None
            for (ended,) in _POINTER.iter_unpack(os.read(self._team.pipes.ended, _POINTER.size * _ENDED_AT_ONCE)):
                del self._running[ended]

    def stop(self) -> None:
        """End all that runs, and the threads with it: after a signal it is unknown what was still begun."""
        for table in self._running.values():
            table[Slot.LIMIT] = 0
        if self._team is not None:
            self._team.join()
            self._team = None
        self._running.clear()


class _Pipes:
    """Pipes of pointers, of those that threads take and of those that they give back; closed with their last user.

    `jobs` is to be written and `ended` to be read; the threads have the other ends.
    """

    def __init__(self) -> None:
        (self.taken, self.jobs), (self.ended, self.given) = os.pipe(), os.pipe()
        self.close = weakref.finalize(self, _close, (self.taken, self.jobs, self.ended, self.given))
        # Threads may still read when the process ends.
        self.close.atexit = False


class _Team:
    """Threads of this process, and their pipes."""

    def __init__(self, code: Code, threads: int) -> None:
        self.process = os.getpid()
        self.pipes = _Pipes()
        own = sorted(os.sched_getaffinity(0))
        affinities = [{processor} for processor in own] if threads == len(own) else [set(own)] * threads
        self._threads = [
            Thread(target=_work, args=(code, self.pipes, affinity), name=_NAME, daemon=True) for affinity in affinities
        ]  # fmt: skip
        for thread in self._threads:
            thread.start()
        self._end = weakref.finalize(self, _end, self.process, threads, self.pipes)

    def join(self) -> None:
        """End the threads when they have done what they were given, and wait for that."""
        self._end()
        for thread in self._threads:
            thread.join()


def _work(code: Code, pipes: _Pipes, processors: Iterable[int]) -> None:
    """What a thread does, on some processors."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _OTHERS)
    # One of them may be gone by now; then any will do.
    with suppress(OSError):
        os.sched_setaffinity(0, processors)
    code.work(pipes.taken, pipes.given)


def _end(process: int, threads: int, pipes: _Pipes) -> None:
    """End the threads when they have done what they were given.

    It does not wait for them: Python may collect an engine at any moment, also inside a lock that a thread needs for
    its end.
    """
    if os.getpid() == process:
        os.write(pipes.jobs, bytes(_POINTER.size * threads))
    else:
        pipes.close()


def _close(pipes: Iterable[int]) -> None:
    for pipe in pipes:
        os.close(pipe)
