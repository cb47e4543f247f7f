"""``ctm sweep``: many configurations over many jobs, into a table and a page."""

import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ctm.sim.cli.options.files import PAGE, check_ending
from ctm.sim.cli.options.machine import Json
from ctm.sim.cli.options.workers import check_workers
from ctm.sim.cli.outcome import BadInput, Mismatch, Outcome
from ctm.sim.cli.sweep.running import Where, kept, run_plan
from ctm.sim.compiled.tools.package import FPGA_YOSYS, LLVM, PLOTLY, VERILATOR, YOSYS
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.files import STANDARD_OUTPUT, is_same_file, naming, try_files, write_file
from ctm.sim.sweep.compare import as_fields, changes, print_changes
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.packages import CRYPTOGRAPHY, DISTRIBUTED, PYARROW
from ctm.sim.sweep.points import Points, load_points

if TYPE_CHECKING:
    from ctm.sim.sweep.columns import Row
    from ctm.sim.sweep.sweep import Progress

_SUFFIX = ".parquet"
_FAILURES = 10
"""Failed points that are named."""


def sweep(
    sweep_file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="The sweep.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="TABLE.parquet", help="The table; default: SWEEP.parquet beside it."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE.html", help="The page; default: beside the table.")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Write no page.")] = False,
    list_wanted: Annotated[
        bool, typer.Option("--list", "--dry-run", help="Print the points and do nothing else.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted sweep into this table.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            metavar="N",
            help="Worker processes on this computer; 0: none, but this process.",
            show_default="as many as processors",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://HOST:8786 or tls://..."),
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option("--tls-ca", metavar="PEM", help="Certificate of the certificate authority.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", metavar="PEM", help="Client certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="PEM", help="Private key of the client.")] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="OLD.parquet", help="Print what changed; exit 1 if it is worse.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, metavar="PERCENT", help="Change that --compare does not count.")
    ] = 0.0,
    json_wanted: Json = False,
) -> None:
    """Run each configuration over each job; write a row for each point into a Parquet table, and a page of plots."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported(), _reported():
        points = load_points(sweep_file, partial(print, file=sys.stderr))
        if list_wanted:
            _list(outcome, points)
            return
        if no_page and page is not None:
            raise BadInput("--page and --no-page exclude each other")
        check_ending("-o", output, (_SUFFIX,))
        check_ending("--page", page, PAGE)
        table = output or sweep_file.with_suffix(_SUFFIX)
        html = None if no_page else page or table.with_suffix(".html")
        files = _Files(sweep=sweep_file, table=table, page=html, old=compare)
        where = Where(workers, scheduler, {"--tls-ca": tls_ca, "--tls-cert": tls_cert, "--tls-key": tls_key})
        check_workers(where.workers, where.scheduler, where.certificates)
        _check_tolerance(tolerance, compare)
        files.check(resume=resume)
        _check_packages(points, where, has_page=html is not None)

        # PyArrow is an optional package.
        from ctm.sim.sweep.table import read_table

        old = None if compare is None else read_table(compare)
        progress, rows = _run(points, files, where, resume=resume)
        _summarise(outcome, progress, files)
        if old is not None:
            _compare(outcome, old, rows, tolerance)


@dataclass(frozen=True, kw_only=True)
class _Files:
    """The files of a sweep: its own, the table and the page that it writes, and the table to compare with."""

    sweep: Path
    table: Path
    page: Path | None
    old: Path | None

    def check(self, *, resume: bool) -> None:
        """Reject files that would replace others, before anything runs; a page is replaced by `resume` only."""
        if self.old is not None and is_same_file(self.old, self.table):
            raise BadInput(f"--compare {self.old}: it is the table that is written; name another one with -o")
        if self.page is None:
            return
        for other in (self.sweep, self.table, *([] if self.old is None else [self.old])):
            if is_same_file(self.page, other):
                raise BadInput(f"--page {self.page}: it would replace {other}; choose another name")
        # Of a table that is there, too, `begun` says that.
        if self.page.exists() and not resume and not self.table.exists():
            raise BadInput(f"{self.page}: it is there already; name another page with --page, or --resume replaces it")
        try_files({self.page: 0}, make_folders=True)


def _run(points: Points, files: _Files, where: Where, *, resume: bool) -> tuple["Progress", list["Row"]]:
    """Run the points without a record, and write table and page; the finished sweep, and the table's rows.

    The journal of records is removed after the last file is written, so that an interrupted sweep can be resumed.
    """
    from ctm.sim.sweep.sweep import begun

    with begun(points, files.table, resume=resume) as (progress, journal):
        plan = progress.plan()
        with kept(progress, journal):
            run_plan(progress, journal, plan, where)
            rows = progress.write()
            if files.page is not None:
                _write_page(files.page, rows, points)
        journal.remove()
    return progress, rows


@contextmanager
def _reported() -> Iterator[None]:
    """What ends a sweep is bad input."""
    try:
        yield
    except SweepError as error:
        raise BadInput(str(error)) from None


def _list(outcome: Outcome, points: Points) -> None:
    outcome.fields["points"] = [
        {
            "number": point.number, "configuration": point.configuration, "preset": point.preset,
            "sets": dict(point.sets), "settings": dict(point.changed), "job": point.job, "height": point.size[0],
            "width": point.size[1], "engine": point.engine,
        }
        for point in points.points
    ]  # fmt: skip
    if not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            for point in points.points:
                typer.echo(f"{point.number:>6}  {point}")
    outcome.say(_counted(points))


def _counted(points: Points) -> str:
    counts = [f"{len(points.points):,} points"]
    counts += [f"{points.left_out:,} left out by conditions"] if points.left_out else []
    counts += [f"{points.impossible:,} impossible ones left out"] if points.impossible else []
    counts += [f"{points.repeated:,} that are the same as others left out"] if points.repeated else []
    return ", ".join(counts)


def _check_tolerance(tolerance: float, compare: Path | None) -> None:
    if not math.isfinite(tolerance):
        raise BadInput(f"--tolerance {tolerance}: it is a number of percent, as 2.5")
    if tolerance and compare is None:
        raise BadInput("--tolerance: it needs --compare OLD.parquet")


def _check_packages(points: Points, where: Where, *, has_page: bool) -> None:
    """Raise ToolchainError for a package that is missing here; workers of a cluster have those of engines."""
    PYARROW.require()
    if has_page:
        PLOTLY.require()
    if where.scheduler is not None or where.workers != 0:
        DISTRIBUTED.require()
        CRYPTOGRAPHY.require()
    if where.scheduler is not None:
        return
    if RtlEngine.name in points.sweep.engines:
        YOSYS.require()
        VERILATOR.require()
    if FastEngine.name in points.sweep.engines:
        LLVM.require()
    if points.sweep.area:
        FPGA_YOSYS.require()
        YOSYS.require()


def _write_page(page: Path, rows: Sequence["Row"], points: Points) -> None:
    from ctm.sim.sweep.page.page import page_of

    text = page_of(points.path.name, rows, command=shlex.join(["ctm", *sys.argv[1:]]))
    write_file(page, text.encode(), make_folders=True)


def _summarise(outcome: Outcome, progress: "Progress", files: _Files) -> None:
    failures = progress.failures
    outcome.fields |= {
        "points": progress.done, "failed": len(failures), "table": str(files.table),
        "page": None if files.page is None else str(files.page),
    }  # fmt: skip
    outcome.say(f"table: {files.table}, {_counted(progress.points)}")
    if files.page is not None:
        outcome.say(f"page: {files.page}")
    names = {point.identity: str(point) for point in progress.points.points}
    for record in failures[:_FAILURES]:
        typer.echo(f"failed: {names[record['point']]}: {record['reason']}", err=True)
    if len(failures) > _FAILURES:
        typer.echo(f"and {len(failures) - _FAILURES:,} more; column `reason` has all", err=True)
    for reason in sorted(set(progress.uncounted.values())):
        typer.echo(f"warning: no area: {reason}", err=True)


def _compare(outcome: Outcome, old: Sequence["Row"], rows: Sequence["Row"], tolerance: float) -> None:
    listed = changes(old, rows, tolerance)
    beyond = sum(change.is_beyond for change in listed)
    outcome.fields["changes"] = as_fields(listed)
    if listed and not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            print_changes(Console(), listed)
    if beyond:
        raise Mismatch(f"{beyond:,} of {len(listed):,} changes are for the worse by more than {tolerance:g} %")
    outcome.say(f"compared: {len(listed):,} changes, none for the worse by more than {tolerance:g} %")
