"""Limits of a job's process: time, memory, files and output; and nothing of it runs on."""

import os
import sys
import time
from pathlib import Path
from threading import Event, Timer

import pytest

from ctm.sim.explore.limits import LimitError, Limits, Worker, members

READ = "import sys; given = sys.stdin.read()\n"


def worker(program: str, **limits: float) -> Worker:
    return Worker([sys.executable, "-c", READ + program], Limits(**limits))  # type: ignore[arg-type]


def test_a_worker_responds() -> None:
    with worker("print(given.upper(), end='')") as process:
        assert process.ask(b"question") == b"QUESTION"


@pytest.mark.parametrize("program", ["while True: pass", "import time; time.sleep(60)"])
def test_time_is_limited(program: str) -> None:
    begin = time.monotonic()
    with worker(program, seconds=0.3) as process, pytest.raises(LimitError, match="did not end within 0.3 seconds"):
        process.ask(b"")
    assert time.monotonic() - begin < 3


def test_memory_is_limited_by_what_is_written() -> None:
    program = (
        "import time; kept = bytearray(150 << 20)\nfor at in range(0, 150 << 20, 4096): kept[at] = 1\ntime.sleep(9)"
    )
    with worker(program, memory=100 << 20) as process, pytest.raises(LimitError, match="more than 100 MiB of memory"):
        process.ask(b"")


def test_memory_is_limited_by_what_is_asked_for() -> None:
    with worker("bytearray(6 << 30)") as process, pytest.raises(LimitError, match="more than 1,024 MiB of memory"):
        process.ask(b"")


def test_memory_of_children_counts() -> None:
    child = "import time; kept = b'x' * (60 << 20); time.sleep(9)"
    program = f"import subprocess, sys\nfor _ in range(2): subprocess.Popen([sys.executable, '-c', {child!r}])\n"
    with worker(program + "import time; time.sleep(9)", memory=100 << 20) as process:
        with pytest.raises(LimitError, match="memory"):
            process.ask(b"")


def test_what_it_writes_is_limited() -> None:
    with worker("while True: sys.stdout.write('x' * 65536)", file=1 << 20) as process:
        with pytest.raises(LimitError, match="status 1: .*File too large"):
            process.ask(b"")


def test_an_end_without_a_response_is_told() -> None:
    with worker("sys.exit('it is broken')") as process, pytest.raises(LimitError, match="status 1: it is broken"):
        process.ask(b"")


def test_it_can_be_stopped() -> None:
    stop = Event()
    Timer(0.2, stop.set).start()
    with worker("import time; time.sleep(60)") as process, pytest.raises(LimitError, match="given up"):
        process.ask(b"", stop)


def test_nothing_runs_on_whatever_group_it_is_in(tmp_path: Path) -> None:
    """Compilers are started in process groups of their own, and grandchildren outlive their parents."""
    grandchild = "import os, sys, time; os.path.exists('x'); time.sleep(60)"
    child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {grandchild!r}], process_group=0)"
    program = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {child!r}])\ntime.sleep(60)"
    with worker(program, seconds=1.0) as process:
        session, folder = process._process.pid, process._folder.name
        with pytest.raises(LimitError):
            process.ask(b"")
        assert len(members(session)) == 2
    assert members(session) == []
    assert not Path(folder).exists()


def test_nothing_of_the_environment_changes_a_compiler() -> None:
    strange = {"CPATH": "/etc", "CCC_OVERRIDE_OPTIONS": "+-I/etc", "LD_PRELOAD": "x.so", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", READ + "import os; print(*sorted(os.environ))"]
    with Worker(command, Limits(), strange) as process:
        names = process.ask(b"").decode().split()
    assert set(names) - {"LC_CTYPE"} == {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "TMPDIR"}
