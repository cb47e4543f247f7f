"""A job in tiles, from its file to its outputs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.options.engines import check_engine, prepare_engine
from ctm.sim.cli.options.machine import configuration
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.split.options import Division
from ctm.sim.jobs.execution import check_kinds, pixels
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.report.provenance import provenance
from ctm.sim.split.error import SplitError
from ctm.sim.split.loading import load_split_job
from ctm.sim.split.plan import plan_launches
from ctm.sim.split.run import SplitRun, Tally
from ctm.sim.split.support import check_support
from ctm.sim.split.tile import Settings
from ctm.sim.split.where import Where
from ctm.sim.sweep.error import SweepError


def run_split(
    outcome: Outcome,
    division: Division,
    job: Path,
    output: Path | None,
    *,
    engine: str,
    preset: str | None,
    changes: list[str] | None,
    watchdog: int,
    max_cycles: int | None,
) -> None:
    """Run a job in tiles and write its outputs.

    Raises
    ------
    BadInput
        It cannot be split, or the cluster cannot be used.
    MachineError, CycleLimitError
        A tile failed.
    OSError
        An output cannot be written.
    """
    assert division.count is not None
    files = [None if file is None else str(file) for file in division.certificates.values()]
    where = Where(workers=division.workers, scheduler=division.scheduler, certificates=(files[0], files[1], files[2]))
    where.require()

    try:
        loaded = load_split_job(job, output)
        config = configuration(preset, changes, kind=loaded.kinds[0])
        for warning in loaded.warnings:
            typer.echo(f"warning: {warning}", err=True)
        check_support(loaded, engine)
        check_engine(engine, max_cycles)
        check_kinds(loaded, config)
        loaded, plans = plan_launches(loaded, division.count)
        settings = Settings(engine=engine, config=config, watchdog=watchdog, max_cycles=max_cycles)
        with _progress(pixels(loaded)) as tell, SplitRun(loaded, plans, settings, tell) as run:
            run.begin()
            if where.scheduler is None:
                # What workers of this computer need is compiled once, with a line that says so.
                prepare_engine(engine, config)
            most = max(len(plan.tiles) for plan in plans)
            with where.client(engine, most) as client, where.doing(client, loaded, settings) as doing:
                run.run(doing)
    except (SplitError, SweepError) as error:
        raise BadInput(str(error)) from None
    _summarise(outcome, loaded, config, run.tally)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar of pixels on a terminal; a function to call with the number that has finished."""
    console = Console(stderr=True)
    columns = TextColumn("pixels"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.update(task, advance=count)


def _summarise(outcome: Outcome, loaded: LoadedJob, config: MachineConfig, tally: Tally) -> None:
    report = tally.report
    outcome.add_report(report)
    programs = {number: (launch.program.key[0].name, launch.program.executable)
                for number, launch in enumerate(loaded.launches)}  # fmt: skip
    outcome.fields |= provenance(config, programs)
    outcome.fields |= {
        "engine": "+".join(sorted(tally.ran)) or outcome.fields["engine"],
        "outputs": {str(key): str(path) for key, path in loaded.files.items()},
        "tiles": tally.tiles, "memory_bytes": tally.memory_bytes,
    }  # fmt: skip
    for remark in tally.remarks:
        typer.echo(f"note: {remark}", err=True)
    for key, path in loaded.files.items():
        outcome.say(f"output {key}: {path}")
    cycles = "" if report.cycles is None else f"{report.cycles:,} cycles, "
    outcome.say(
        f"{len(tally.tiles):,} tiles, together {cycles}{report.instructions:,} instructions, "
        f"{report.lane_instructions:,} lane instructions"
    )
