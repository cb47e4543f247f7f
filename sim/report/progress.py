"""Progress of a run, on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ctm.sim.engines.engine import Report

PATIENCE = 5.0
"""Seconds in which no wavefront begins or ends, after which a run says that it goes on."""


class RunProgress:
    """A bar of pixels, below it what was counted so far; once, a line that says that wavefronts run for long.

    `watchdog` is what a wavefront may execute, 0 for any number. After that line `ask` is called now and then, for what
    else there may be to say.
    """

    def __init__(self, console: Console, total: int | None, watchdog: int) -> None:
        self._console, self._watchdog = console, watchdog
        self._bar = Progress(
            TextColumn("pixels"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console
        )
        self._task = self._bar.add_task("", total=total)
        self._counts = Text()
        self.shown = Group(self._bar, self._counts)
        self._last, self._is_told = time.monotonic(), False
        self.standing: Callable[[], Report] | None = None
        """Of the engine that runs."""
        self.ask: Callable[[], str | None] = lambda: None

    def advance(self, finished: int) -> None:
        """Be told, as an engine does it."""
        report = None if self.standing is None else self.standing()
        counts = "" if report is None else _counts(report)
        self._bar.update(self._task, advance=finished)
        self._counts.plain = f"{counts}; {self._limit}" if counts else ""
        now = time.monotonic()
        if finished:
            self._last = now
        elif _has_cycles(report) and not self._is_told and now - self._last > PATIENCE:
            self._is_told = True
            self._tell(f"wavefronts are still running after {counts}, and none has begun or ended for "
                       f"{PATIENCE:.0f} s; {self._limit} (--watchdog), --max-cycles limits cycles")  # fmt: skip
        if self._is_told and (line := self.ask()):
            self._tell(line)

    @property
    def _limit(self) -> str:
        return f"a wavefront may execute {self._watchdog:,}" if self._watchdog else "a wavefront may execute any number"

    def _tell(self, line: str) -> None:
        # A line of its own, however long it is.
        self._console.print(line, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def run_progress(total: int | None, watchdog: int) -> Iterator[RunProgress]:
    """The progress of a run of `total` pixels, if that is known."""
    console = Console(stderr=True)
    progress = RunProgress(console, total, watchdog)
    if not console.is_terminal:
        yield progress
        return
    with Live(progress.shown, console=console, transient=True):
        yield progress


def _has_cycles(report: Report | None) -> bool:
    """Whether an engine counts cycles; on one without, wavefronts of a batch end together, and seldom."""
    return report is not None and report.cycles is not None


def _counts(report: Report) -> str:
    counted = (report.cycles, "cycles"), (report.instructions, "instructions")
    return ", ".join(f"{number:,} {noun}" for number, noun in counted if number)
