"""Processes of ``ctm``, and signals that they get."""

import signal
import subprocess
import time
from collections.abc import Callable

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE = 60.0
Process = subprocess.Popen[str]


def hear_all() -> None:
    """Of a process that begins: a suite in the background, or behind nohup, may have been told to ignore some."""
    for number in STATUS:
        signal.signal(number, signal.SIG_DFL)


def wait(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def session(process: Process) -> list[str]:
    """What still runs in its session; what has ended and only waits to be forgotten does not count."""
    listed = subprocess.run(["ps", "-eo", "sid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = (line.split(maxsplit=2) for line in listed.stdout.splitlines())
    return [row[2] for row in rows if row[0] == str(process.pid) and not row[1].startswith("Z")]
