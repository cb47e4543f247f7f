"""A program on a terminal of its own, as a user has it."""

import os
import pty
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ctm.tb.cli.processes import PATIENCE, Process, running

_ATTACHED = (
    "import os, sys\n"
    "terminal = os.open(sys.argv[1], os.O_RDWR)\n"
    "for number in range(3): os.dup2(terminal, number)\n"
    "os.execv(sys.argv[2], sys.argv[2:])"
)
"""Of a session's first process: the terminal that it opens is the session's."""


class Terminal:
    """The user's side of the terminal that a process has."""

    def __init__(self, process: Process, terminal: int) -> None:
        self.process, self._terminal = process, terminal
        self._seen = ""

    def until(self, text: str) -> None:
        """Read up to a text and past it."""
        end = time.monotonic() + PATIENCE
        while text not in self._seen:
            assert time.monotonic() < end, self._seen
            if select.select([self._terminal], [], [], 1)[0]:
                self._seen += os.read(self._terminal, 1 << 16).decode(errors="replace")
        self._seen = self._seen.partition(text)[2]

    def type(self, text: str) -> None:
        """What keys give."""
        os.write(self._terminal, text.encode())

    def ended(self) -> int:
        """Wait for its end: the exit code, or minus the signal that ended it."""
        return self.process.wait(PATIENCE)


@contextmanager
def terminal(*arguments: str, kind: str) -> Iterator[Terminal]:
    """``ctm`` with arguments on a terminal of a kind."""
    own, its = pty.openpty()
    program = [sys.executable, "-I", "-S", "-c", _ATTACHED, os.ttyname(its)]
    command = [*program, sys.executable, "-m", "ctm", *arguments]
    try:
        with running(command, env={**os.environ, "TERM": kind}) as process:
            yield Terminal(process, own)
    finally:
        os.close(own)
        os.close(its)
