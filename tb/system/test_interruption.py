"""A signal ends the demonstration with all its workers."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from ctm.tb.cli.processes import PATIENCE, STATUS, running, session, wait
from ctm.tb.system.demonstrating import command

TOP = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("is_terminal", [False, True], ids=["one process", "all processes"])
def test_the_demonstration_ends_with_its_workers(tmp_path: Path, is_terminal: bool) -> None:
    """A terminal sends Ctrl-C to all processes, others send a signal to one."""
    with running(command("mandelbrot", "nbody", "-o", tmp_path), cwd=TOP, stdout=subprocess.DEVNULL) as process:
        wait(lambda: sum("scripts.demonstration" in each for each in session(process)) > 1, patience=5 * PATIENCE)
        time.sleep(1.0)
        if is_terminal:
            subprocess.run(["kill", "-INT", "--", f"-{process.pid}"], check=True)
        else:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == STATUS[signal.SIGINT]
    # Whether the machine had to be compiled first is said in front.
    assert errors.splitlines()[-1] == "error: interrupted by SIGINT; no file is half written"
    assert "Traceback" not in errors
    wait(lambda: not session(process))
