"""The server as a user starts it, and the system's Chromium."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CTM = (sys.executable, "-m", "ctm", "explore", "--port", "0", "--no-browser")
CANNED = (sys.executable, "-m", "ctm.tb.explore.canned")
"""The same page with answers that are always the same."""
STATUS = 128 + signal.SIGINT
_PATIENCE = 60.0


@contextmanager
def server(*arguments: object, command: tuple[str, ...] = CTM) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """``ctm explore`` at a free port; at its end it gets Ctrl-C, and says one line."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, *map(str, arguments)], stdout=pipe, stderr=pipe, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            said = re.match(r"http://127.0.0.1:(\d+)/ shows it", process.stdout.readline())
            assert said is not None, process.communicate()
            yield int(said[1]), process
        finally:
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=_PATIENCE)
        assert (process.returncode, printed) == (STATUS, "")
        assert errors == "error: interrupted by SIGINT; no file is half written\n"


def chromium() -> str | None:
    """The system's Chromium, or one that CHROMIUM names."""
    names = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
