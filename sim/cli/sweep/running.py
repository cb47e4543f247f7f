"""Where the points of a sweep run, and the note of a sweep that was interrupted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ctm.sim.cli.sweep.progress import sweep_progress
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.sweep.here import do_here
from ctm.sim.sweep.measuring import Plan
from ctm.sim.sweep.versions import needed, sources

if TYPE_CHECKING:
    from ctm.sim.sweep.journal import Journal
    from ctm.sim.sweep.sweep import Progress


@dataclass(frozen=True)
class Where:
    """The values of --workers and --scheduler, and the files of TLS by their options; None: not given."""

    workers: int | None
    scheduler: str | None
    certificates: Mapping[str, Path | None]


def run_plan(progress: "Progress", journal: "Journal", plan: Plan, where: Where) -> None:
    """Run the points of a plan, with a bar of progress; each record goes to the journal as it comes.

    Raises
    ------
    SweepError
        The cluster cannot be used, or has gone away.
    OSError
        A record could not be kept.
    """
    if not plan.size:
        return

    # Tables need an optional package.
    from ctm.sim.sweep.sweep import go_on

    with sweep_progress(plan.size) as (tell, say):
        if where.scheduler is None and where.workers == 0:
            go_on(progress, journal, do_here(plan, say), tell)
            return

        # Dask takes half a second to import.
        from ctm.sim.sweep.cluster.handed import do_at_workers
        from ctm.sim.sweep.cluster.workers import Certificates, local_workers, processors, workers_of

        if where.scheduler is None:
            count = min(where.workers or processors(), plan.size)
            is_compiled = any(task.engine == RtlEngine.name for task in plan.tasks)
            more = "; each machine that is new is compiled once (a minute or two)" if is_compiled else ""
            say(f"starting {count} worker{'s' * (count != 1)}{more}")
            with local_workers(count) as client:
                records = do_at_workers(plan, client, name="the scheduler of this computer", sources="")
                go_on(progress, journal, records, tell)
            return
        files = [None if file is None else str(file) for file in where.certificates.values()]
        sweep = progress.points.sweep
        needs = needed(sweep.engines, area=sweep.area)
        with workers_of(where.scheduler, Certificates(*files), needs) as client:
            records = do_at_workers(plan, client, name=f"the scheduler {where.scheduler}", sources=sources())
            go_on(progress, journal, records, tell)


@contextmanager
def kept(progress: "Progress", journal: "Journal") -> Iterator[None]:
    """Print how many points are kept if the body ends with an exception."""
    try:
        yield
    except BaseException:
        # A signal may come after a record is on disk and before `progress` has it.
        for record in journal.kept():
            if "point" in record:
                progress.take(record)
        if progress.done:
            total = len(progress.points.points)
            typer.echo(f"note: {progress.done:,} of {total:,} points are kept; --resume goes on", err=True)
        raise
