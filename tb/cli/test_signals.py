"""Signals end ``ctm`` at any moment: a line, the exit status that shells know, nothing that runs on or is half made."""

import signal
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ctm.tb.cli.processes import PATIENCE, STATUS, Process, running, session, wait
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import FULL_FLOW_CONTROL, move
from ctm.tb.r5xx.statements import add, begin_loop, end_loop

CTM = Path(__file__).parents[2] / ".venv" / "bin" / "ctm"


def start(folder: Folder, *options: str, **environment: str) -> AbstractContextManager[Process]:
    """``ctm run``."""
    return running([CTM, "run", folder.job, *options], env=environment)


def has_handlers(process: Process) -> bool:
    """Whether signals are caught: the interpreter, which starts before, knows nothing of that yet."""
    (line,) = (
        line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigCgt")
    )
    return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def end(process: Process, number: signal.Signals) -> str:
    """Send a signal and wait; what stood on standard error."""
    process.send_signal(number)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == STATUS[number], errors
    assert printed == ""
    wait(lambda: not session(process))
    return errors


@pytest.mark.parametrize("number", STATUS)
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3])
def test_while_modules_are_imported(tmp_path: Path, number: signal.Signals, delay: float) -> None:
    folder = Folder.make(tmp_path)
    folder.change("i = [0, 12]", "i = [0, 4000]")
    with start(folder) as process:
        wait(lambda: has_handlers(process))
        time.sleep(delay)
        assert end(process, number) == f"error: interrupted by {number.name}; no file is half written\n"
    assert not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize("number", STATUS)
def test_while_the_machine_is_translated(tmp_path: Path, number: signal.Signals) -> None:
    """There are two processes then, of which only one gets the signal."""
    folder = Folder.make(tmp_path)
    options = ("--engine", "rtl", "--preset", "tiny")
    with start(folder, *options, XDG_CACHE_HOME=str(tmp_path / "cache"), PATH="/usr/bin:/bin") as process:
        wait(lambda: any("import pickle" in command for command in session(process)))
        first, second = end(process, number).splitlines()
    assert first.startswith("compiling the machine for engine 'rtl'")
    assert second == f"error: interrupted by {number.name}; no file is half written"
    assert list((tmp_path / "cache" / "ctm").iterdir()) == []


@pytest.mark.slow
def test_while_another_process_is_waited_for(tmp_path: Path) -> None:
    folder = Folder.make(tmp_path)
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
    options = ("--engine", "rtl", "--preset", "tiny")
    with start(folder, *options, **environment) as first:
        wait(lambda: any("import pickle" in command for command in session(first)))
        with start(folder, *options, **environment) as second:
            assert second.stderr is not None
            assert second.stderr.readline() == "another process compiles the same; waiting for it ...\n"
            line = end(second, signal.SIGTERM)
            assert line == "error: interrupted by SIGTERM; no file is half written\n"
        assert first.poll() is None
        end(first, signal.SIGTERM)


@pytest.fixture
def long(tmp_path: Path) -> Folder:
    """A job that takes long, compiled or not."""
    folder = Folder.make(tmp_path)
    loops = [begin_loop(6), begin_loop(5), add(3), add(3), end_loop(2), end_loop(1), move(0, 1, output=0)]
    (tmp_path / "scale.elf").write_bytes(executable(loops, us_fc_ctrl=FULL_FLOW_CONTROL))
    folder.change("i = [0, 12]\nj = [0, 4]", "i = [0, 2999]\nj = [0, 2999]")
    folder.change("shape = [5, 13]", "shape = [3000, 3000]")
    folder.change("[constants]\n", "[constants]\nint = {0 = [100, 0, 0]}\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "number"), [("fast", signal.SIGINT), ("auto", signal.SIGTERM)])
def test_while_a_compiled_program_runs(long: Folder, engine: str, number: signal.Signals) -> None:
    """It knows nothing of signals, but it is told to stop."""
    cache = long.path / "cache"
    with start(long, "--engine", engine, XDG_CACHE_HOME=str(cache)) as process:
        wait(lambda: any(cache.glob("ctm/fast-*.o")))
        time.sleep(0.5)
        assert process.poll() is None
        begin = time.monotonic()
        assert end(process, number) == f"error: interrupted by {number.name}; no file is half written\n"
        assert time.monotonic() - begin < 10
    assert not (long.path / "y.npy").exists()


def test_a_signal_that_nohup_ignores_remains_ignored(tmp_path: Path) -> None:
    folder = Folder.make(tmp_path)
    with running(["nohup", CTM, "run", folder.job]) as process:
        wait(lambda: has_handlers(process))
        process.send_signal(signal.SIGHUP)
        assert process.wait(PATIENCE) == 0
    assert (tmp_path / "y.npy").exists()
