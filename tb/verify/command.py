"""``python -m ctm.tb.verify``: runs campaigns, keeps what fails, reports what was covered.

The status is 0 if nothing fails and no hole counts, 1 if something fails or a hole counts, 2 if nothing could be run or
the cluster went away, and 128 and more where a signal ends it. Whatever ends a run, its failures are kept and told.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ctm.sim.cli.options.files import PAGE, check_ending
from ctm.sim.cli.outcome import BadInput
from ctm.sim.cli.signals import Interruption, interruptible
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.package import PLOTLY
from ctm.sim.files import try_files, write_file
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.packages import CRYPTOGRAPHY, DISTRIBUTED
from ctm.tb.verify.campaign import tried
from ctm.tb.verify.catalogue import CAMPAIGNS
from ctm.tb.verify.coverage.holes import coverage_of, read
from ctm.tb.verify.kept import KeptError, keep, load, path_of
from ctm.tb.verify.options import parse
from ctm.tb.verify.progress import progress
from ctm.tb.verify.report import Results, junit, lines
from ctm.tb.verify.session import Limits, Session, run_here
from ctm.tb.verify.sources import sources
from ctm.tb.verify.tally import Failure, Tally

_GOOD, _FAILED, _BAD = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command, which signals end in order; returns its status."""
    with interruptible():
        return run(arguments)


def run(arguments: Sequence[str] | None) -> int:
    """The command as `main`, without a handler of signals."""
    try:
        options = parse(arguments)
        if options.list:
            return _list()
        if options.again is not None:
            return _again(options.again)
        return _run(options, arguments)
    except (BadInput, KeptError, SweepError, ToolchainError) as error:
        return _error(str(error))
    except OSError as error:
        file = f"{error.filename}: " if error.filename else ""
        return _error(f"{file}{error.strerror or error}")


def _error(text: str) -> int:
    print(f"error: {text.partition(chr(10))[0]}", file=sys.stderr)
    return _BAD


def _list() -> int:
    width = max(map(len, CAMPAIGNS))
    for name, campaign in CAMPAIGNS.items():
        print(f"{name:<{width}}  {campaign.about}; holes count from {campaign.enough:,} seeds on")
    return _GOOD


def _again(path: Path) -> int:
    """Run one kept failure."""
    failure, made_with = load(path)
    if made_with != sources():
        print(f"note: it failed with other sources ({made_with}; these are {sources()})", file=sys.stderr)
    try:
        found = tried(CAMPAIGNS[failure.campaign], failure.case)
    except ValueError as error:
        raise KeptError(f"{path}: its case cannot be run: {error}") from None
    if found.difference is None:
        print(f"{failure.name}: no difference")
        return _GOOD
    print("\n".join([f"{failure.name}: {found.difference}", *failure.listing]))
    return _FAILED


def _run(options: argparse.Namespace, arguments: Sequence[str] | None) -> int:
    _check_files(options)
    if options.workers != 0:
        DISTRIBUTED.require()
        CRYPTOGRAPHY.require()
    session = _session(options)
    ended_by, status = "", _GOOD
    try:
        _go(session, options)
    except (SweepError, ToolchainError) as error:
        ended_by, status = str(error), _BAD
    except Interruption as interruption:
        # The processes of workers have ended by now.
        ended_by, status = f"interrupted by {interruption.name}", interruption.status
    rows = read()
    tallies = list(session.tallies.values())
    coverage = [table for tally in tallies for table in coverage_of(tally, rows)]
    results = Results(tallies, coverage, session.seconds, ended_by)
    _report(results, options, arguments)
    if ended_by:
        print(f"error: {ended_by.partition(chr(10))[0]}", file=sys.stderr)
        return status
    return _GOOD if results.is_good else _FAILED


def _check_files(options: argparse.Namespace) -> None:
    """Find out before the run whether files can be written."""
    if options.page is not None:
        PLOTLY.require()
    check_ending("--page", options.page, PAGE)
    check_ending("--junit", options.junit, (".xml",))
    files = [path for path in (options.page, options.junit) if path is not None]
    try_files({path: 0 for path in files}, make_folders=True)
    options.output.mkdir(parents=True, exist_ok=True)


def _session(options: argparse.Namespace) -> Session:
    names = options.campaign or list(CAMPAIGNS)
    last = None if options.seeds is None else options.seed + options.seeds
    seconds = None if options.minutes is None else 60 * options.minutes
    tallies = {name: Tally(CAMPAIGNS[name], options.seed, last) for name in dict.fromkeys(names)}
    limits = Limits(seconds=seconds, most_failures=options.failures)
    return Session(tallies, limits, partial(_keep, options.output))


def _keep(folder: Path, failure: Failure) -> None:
    """Keep a failure, and say so."""
    keep(failure, folder)
    text = f"reduced to {failure.size} items" if failure.size else failure.difference.partition("\n")[0]
    print(f"failing: {path_of(failure, folder)}: {text}", file=sys.stderr)


def _go(session: Session, options: argparse.Namespace) -> None:
    total = None if options.seeds is None else options.seeds * len(session.tallies)
    with progress(session, total) as (say, tell):
        if options.scheduler is None and options.workers == 0:
            run_here(session, tell)
            return

        # Dask takes half a second to import.
        from ctm.tb.verify.cluster import Where, run_at_workers

        certificates = options.tls_ca, options.tls_cert, options.tls_key
        run_at_workers(session, Where(options.workers, options.scheduler, certificates), say, tell)


def _report(results: Results, options: argparse.Namespace, arguments: Sequence[str] | None) -> None:
    for line in lines(results):
        print(line)
    for failure in results.failures:
        print(f"again: python -m ctm.tb.verify --again {shlex.quote(str(path_of(failure, options.output)))}")
    if options.junit is not None:
        write_file(options.junit, junit(results), make_folders=True)
    if options.page is not None:
        # Plotly takes a second to import.
        from ctm.tb.verify.page import page_of

        given = list(sys.argv[1:] if arguments is None else arguments)
        command = shlex.join(["python", "-m", "ctm.tb.verify", *given])
        write_file(options.page, page_of(results, command=command).encode(), make_folders=True)
