"""``ctm debug``: stops in a job, steps, looks and goes back."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.options import DEFAULT_WATCHDOG, Preset, Settings, Watchdog, configuration
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.signals import Interruption
from ctm.sim.compiled.tools.package import TEXTUAL
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
    screen: Annotated[
        bool, typer.Option("--screen", help="Show source, registers, lanes and the output on all of the terminal.")
    ] = False,
    hazards: Annotated[
        bool, typer.Option("--hazards", help="Stop in front of reads of what hardware need not have delivered.")
    ] = False,
) -> None:
    """Run a job under a debugger, on the golden model: breakpoints, steps, registers, and back (docs/debugger.md)."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        if screen:
            _check_terminal()
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
            said: list[str] = []
            say = said.append if screen else outcome.say
            console = Console(session, config.array.instruction_set, say)
            console.onecmd("info wavefront")
            console.onecmd("info line")
            for name, lines in scripts:
                if _executed(console, say, name, lines):
                    return
            # Without a standard input Python has none.
            if screen:
                _show(session, config.array.instruction_set, said)
            elif sys.stdin is not None and sys.stdin.isatty():
                _interactive(console)
            elif not scripts:
                _executed(console, say, *_script(_STANDARD_INPUT))


def _check_terminal() -> None:
    TEXTUAL.require()
    if any(stream is None or not stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise BadInput("--screen: there is no terminal; without it commands come from standard input")


def _show(session: Session, kind: str, said: list[str]) -> None:
    # It is a package that not everyone installs.
    from ctm.sim.debug.screen.application import DebugScreen

    number = DebugScreen(session, kind, said).run()
    if number:
        raise Interruption(number)


def _script(file: str) -> tuple[str, Iterator[str]]:
    if file == _STANDARD_INPUT:
        return "standard input", iter(sys.stdin or ())
    try:
        return file, iter(Path(file).read_text(encoding="utf-8").splitlines())
    except UnicodeDecodeError:
        raise BadInput(f"-x {file}: it is no text") from None


def _executed(console: Console, say: Callable[[str], None], name: str, lines: Iterator[str]) -> bool:
    """Execute the lines of a script up to the first that fails; whether one of them was the last one."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            say(f"{console.prompt}{line.strip()}")
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
