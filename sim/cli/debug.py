"""``ctm debug``: stops in a job, steps, looks and goes back."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.options import DEFAULT_WATCHDOG, Preset, Settings, Watchdog, configuration
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.signals import Interruption
from ctm.sim.debug.console import Console
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.jobs.execution import check_kinds
from ctm.sim.jobs.loading import load_job

_STANDARD_INPUT = "-"


def debug(
    job: Annotated[Path, typer.Argument(metavar="JOB.toml", help="The job.")],
    commands: Annotated[
        list[str] | None,
        typer.Option("-x", metavar="FILE", help="Execute the commands of a file, - for standard input; repeatable."),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    watchdog: Watchdog = DEFAULT_WATCHDOG,
    hazards: Annotated[
        bool, typer.Option("--hazards", help="Stop in front of reads of what hardware need not have delivered.")
    ] = False,
) -> None:
    """Run a job under a debugger, on the golden model: breakpoints, steps, registers, and back (docs/debugger.md)."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        scripts = [_script(file) for file in commands or []]
        loaded = load_job(job, None)
        config = configuration(preset, settings, kind=loaded.kinds[0])
        check_kinds(loaded, config)
        try:
            session = Session(loaded, config, watchdog=watchdog, hazards=hazards)
        except DebugError as error:
            raise BadInput(str(error)) from None
        with session:
            for warning in loaded.warnings:
                typer.echo(f"warning: {warning}", err=True)
            if session.result is not None:
                raise BadInput(f"{job}: no launch has a wavefront that could be looked at")
            console = Console(session, config.array.instruction_set, outcome.say)
            console.onecmd("info wavefront")
            console.onecmd("info line")
            for name, lines in scripts:
                if _executed(console, outcome, name, lines):
                    return
            # Without a standard input Python has none.
            if sys.stdin is not None and sys.stdin.isatty():
                _interactive(console)
            elif not scripts:
                _executed(console, outcome, *_script(_STANDARD_INPUT))


def _script(file: str) -> tuple[str, Iterator[str]]:
    if file == _STANDARD_INPUT:
        return "standard input", iter(sys.stdin or ())
    try:
        return file, iter(Path(file).read_text(encoding="utf-8").splitlines())
    except UnicodeDecodeError:
        raise BadInput(f"-x {file}: it is no text") from None


def _executed(console: Console, outcome: Outcome, name: str, lines: Iterator[str]) -> bool:
    """Execute the lines of a script up to the first that fails; whether one of them was the last one."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            outcome.say(f"{console.prompt}{line.strip()}")
        if console.onecmd(line):
            return True
        if console.failed:
            raise BadInput(f"{name}:{number}: {line.strip()}: {console.error}")
    return False


def _interactive(console: Console) -> None:
    """Read lines from the terminal; Ctrl-C ends what a command does, and not the session."""
    intro = "type `help` for the commands"
    while True:
        try:
            console.cmdloop(intro)
        except Interruption as interruption:
            if interruption.name != "SIGINT":
                raise
            intro = f"\n{console.interrupted()}".rstrip()
        else:
            return
