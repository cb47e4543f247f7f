"""The machines that programs are measured on: compiled in the background, once, by a process of its own.

``python -m ctm.sim.explore.models ISA`` is that process: it ends when the model is there.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Lock

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.engines.watching.engine import WatchedEngine
from ctm.sim.explore.execution import configuration
from ctm.sim.explore.limits import members

_COMMAND = (sys.executable, "-P", "-m", "ctm.sim.explore.models")

_LOOK_SECONDS = 4.0
"""What it takes to find a model that is there."""


class Models:
    """Which machines are there. One at a time is compiled; nothing of it depends on what a page says."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: tuple[str, subprocess.Popen[bytes]] | None = None
        self._began = 0.0
        self._there: set[str] = set()
        self._problems: dict[str, str] = {}

    def is_there(self, isa: str) -> bool:
        """Whether programs of an instruction set can be measured; compilation begins if they cannot."""
        with self._lock:
            self._look()
            if isa in self._there:
                return True
            if self._running is None and isa not in self._problems:
                command, self._began = [*_COMMAND, isa], time.monotonic()
                pipe = subprocess.PIPE
                self._running = (
                    isa,
                    subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=pipe,
                        start_new_session=True,
                    ),
                )
            return False

    def is_looked_for(self, isa: str) -> bool:
        """Whether it will soon be known if a machine is there."""
        with self._lock:
            self._look()
            soon = time.monotonic() - self._began < _LOOK_SECONDS
            return self._running is not None and self._running[0] == isa and soon

    def problem(self, isa: str) -> str:
        """Why a machine cannot be had, in a sentence; "" if it can, or may be."""
        with self._lock:
            return self._problems.get(isa, "")

    def _look(self) -> None:
        if self._running is None or self._running[1].poll() is None:
            return
        isa, process = self._running
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
        process.stderr.close()
        if process.returncode:
            self._problems[isa] = said or f"compilation ended with status {process.returncode}"
        else:
            self._there.add(isa)
        self._running = None

    def close(self) -> None:
        """End what is being compiled."""
        with self._lock:
            if self._running is None:
                return
            session = self._running[1].pid
            while found := members(session):
                for process in found:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                self._running[1].poll()
            self._running = None


def main() -> None:
    """Compile one machine, unless it is there."""
    try:
        WatchedEngine.prepare(configuration(sys.argv[1]), lambda: None)
    except ToolchainError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
