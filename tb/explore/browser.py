"""The server as a user starts it, and the system's Chromium."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from ctm.tb.cli.processes import Process, running

CTM = (sys.executable, "-m", "ctm", "explore", "--port", "0", "--no-browser")
CANNED = (sys.executable, "-m", "ctm.tb.explore.canned")
"""The same page with responses that are always the same."""
STATUS = 128 + signal.SIGINT
_PATIENCE = 60.0
PHONE, WIDE = 390, 1400
"""Widths of screens in pixels."""


@contextmanager
def server(*arguments: object, command: tuple[str, ...] = CTM) -> Iterator[tuple[int, Process]]:
    """``ctm explore`` at a free port; at its end it gets Ctrl-C, and says one line."""
    with running([*command, *arguments]) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            said = re.match(r"http://127.0.0.1:(\d+)/ is the page", line)
            assert said is not None, line
            yield int(said[1]), process
        finally:
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=_PATIENCE)
        assert (process.returncode, printed) == (STATUS, "")
        assert errors == "error: interrupted by SIGINT; no file is half written\n"


Scheme = Literal["dark", "light"]


def chromium() -> str | None:
    """The system's Chromium, or one that CHROMIUM names."""
    names = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@contextmanager
def shown(file: Path, width: int, scheme: Scheme, *, charts: int) -> Iterator[Any]:
    """A page in a browser that can reach no network, with so many charts; nothing is said on its console."""
    from playwright.sync_api import sync_playwright

    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--host-resolver-rules=MAP * ~NOTFOUND"])
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function(f"() => document.querySelectorAll('.plotly-graph-div .main-svg').length >= {charts}")
        yield page
        browser.close()
    assert said == []
