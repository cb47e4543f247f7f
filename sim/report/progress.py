"""Progress of long work, on standard error, where that is a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ctm.sim.engines.engine import Progress as Advance


@contextmanager
def processor_progress(total: int) -> Iterator[Advance]:
    """A bar of processors that have finished, out of `total`; yields what advances it."""
    console = Console(stderr=True)
    columns = (TextColumn("processors"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda finished: progress.advance(task, finished)
