"""Progress of a sweep, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ctm.sim.sweep.measuring import OK, Record

_WINDOW = 600.0
"""Seconds over which the estimate is averaged: points differ, and compilation comes first."""


@contextmanager
def sweep_progress(total: int) -> Iterator[tuple[Callable[[Record], None], Callable[[str], None]]]:
    """A bar of `total` points and areas; a function to call for each record, and one that prints a sentence."""
    console = Console(stderr=True)

    def say(sentence: str) -> None:
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)

    bar = Progress(
        TextColumn("points"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"),
        TimeRemainingColumn(), TextColumn("{task.fields[failed]}"),
        console=console, transient=True, disable=not console.is_terminal, speed_estimate_period=_WINDOW,
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=total, failed="")
        failed = 0

        def tell(record: Record) -> None:
            nonlocal failed
            failed += record.get("status", OK) != OK
            bar.update(task, advance=1, failed=f"{failed} failed" if failed else "")

        yield tell, say
