"""A program on a terminal of its own, as a user has it."""

import os
import pty
import select
import sys
import time

from ctm.tb.cli.processes import hear_all

_SECONDS = 60


class Terminal:
    """Runs ``ctm`` with arguments on a terminal of a kind."""

    def __init__(self, *arguments: str, kind: str) -> None:
        self.process, self._terminal = pty.fork()
        if not self.process:
            hear_all()
            os.environ["TERM"] = kind
            os.execv(sys.executable, [sys.executable, "-m", "ctm", *arguments])
        self._seen = ""

    def until(self, text: str) -> None:
        """Read up to a text and past it."""
        end = time.monotonic() + _SECONDS
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
        status = os.waitpid(self.process, 0)[1]
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)
