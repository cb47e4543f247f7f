"""Progress of a run, on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ctm.tb.verify.session import Session

_EVERY = 30.0
"""Seconds between two lines where standard error is no terminal."""


@contextmanager
def progress(session: Session, total_seeds: int | None) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """What is told a sentence, and what is called after each task; `total_seeds` are those of all campaigns."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    seconds, told = session.limits.seconds, time.monotonic()

    def say(sentence: str) -> None:
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)

    def tell() -> None:
        nonlocal told
        seeds = sum(tally.seeds for tally in session.tallies.values())
        failing = sum(len(tally.failures) for tally in session.tallies.values())
        text = f"{seeds:,} seeds, {failing:,} failing"
        shares = [session.seconds / seconds] if seconds else []
        shares += [seeds / total_seeds] if total_seeds else []
        share = min(1.0, max(shares))
        bar.update(task, completed=share, description=text)
        if not console.is_terminal and time.monotonic() - told > _EVERY:
            told = time.monotonic()
            left = f", about {session.seconds * (1 / share - 1):,.0f} s left" if 0 < share else ""
            say(text + left)

    with bar:
        task = bar.add_task("", total=1.0)
        yield say, tell
