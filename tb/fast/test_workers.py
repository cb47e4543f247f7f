"""Threads that run native code: they end with their engine, with the process and at a signal, and stay out of forks."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

import pytest

from ctm.sim.engines.fast.engine import FastEngine
from ctm.tb.cli.processes import wait
from ctm.tb.fast.comparison import Task
from ctm.tb.fast.tasks import ENDLESS, LARGE, OUTPUT, SUM, Made

PATIENCE = 20.0
RUN, LOOP = (Made(program=program, watchdog=0).task(LARGE) for program in (SUM, ENDLESS))
FORK = """
import os
from ctm.tb.fast.tasks import OUTPUT
from ctm.tb.fast.test_workers import RUN, engine

def run():
    fast.memory.write(OUTPUT, bytes(1 << 20))
    assert RUN.on(fast) == [None]
    return fast.memory.read(OUTPUT, 1 << 20)

fast = engine(RUN)
first = run()
assert any(first)
child = os.fork()
assert run() == first
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert run() == first
"""
"""The child ends as every process does, and its parent's threads continue after that."""


def engine(task: Task, watchdog: int = 0) -> FastEngine:
    return FastEngine(task.config, watchdog=watchdog, threads=2)


def open_files_and_threads() -> tuple[int, int]:
    gc.collect()
    return len(os.listdir("/proc/self/fd")), sum(thread.name == "ctm-fast" for thread in threading.enumerate())


@pytest.mark.slow
def test_an_engine_that_is_collected_inside_a_lock_of_threads_does_not_wait() -> None:
    """Python may collect it in any thread, in the midst of the start of one."""
    fast = engine(RUN)
    assert RUN.on(fast) == [None]
    engines = [fast]
    del fast

    def collect() -> None:
        with threading._active_limbo_lock:  # type: ignore[attr-defined]
            engines.clear()
            gc.collect()

    before = open_files_and_threads()
    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    wait(lambda: open_files_and_threads() == (before[0] - 4, before[1] - 2))


@pytest.mark.slow
def test_engines_leave_neither_threads_nor_files() -> None:
    before = open_files_and_threads()
    fast = engine(RUN)
    for _ in range(3):
        assert RUN.on(fast) == [None]
    assert open_files_and_threads() == (before[0] + 4, before[1] + 2)
    del fast
    for task in (RUN, LOOP) * 5:
        assert task.on(engine(task, watchdog=300))
    wait(lambda: open_files_and_threads() == before)


def test_as_many_threads_as_processors_have_one_each() -> None:
    own, others = os.sched_getaffinity(0), threading.enumerate()
    fast = FastEngine(RUN.config)
    assert RUN.on(fast) == [None]
    new = [thread for thread in threading.enumerate() if thread not in others]
    team = [thread.native_id for thread in new if thread.name == "ctm-fast"]
    affinities = [os.sched_getaffinity(thread) for thread in team if thread is not None]
    assert sorted(map(sorted, affinities)) == [[processor] for processor in sorted(own)]
    assert os.sched_getaffinity(0) == own


class Signalled(Exception):  # noqa: N818 - no error, and none of those that files have and caches handle
    """What a handler raises."""


def test_a_signal_ends_code_without_an_end() -> None:
    """At once, and the engine goes on."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Signalled

    fast, handler = engine(LOOP), signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(Signalled):
            LOOP.on(fast)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, handler)
    assert 0.1 < time.monotonic() - begin < 3
    assert not fast.memory.bytes[OUTPUT : OUTPUT + (1 << 16)].any()
    assert RUN.on(fast) == [None]
    assert fast.memory.bytes[OUTPUT : OUTPUT + (1 << 16)].any()


def test_a_fork_has_threads_of_its_own() -> None:
    result = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (result.returncode, result.stderr) == (0, "")
