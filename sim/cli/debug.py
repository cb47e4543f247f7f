"""``ctm debug``: breakpoints, steps and reverse execution of a job."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.options.engines import DEFAULT_WATCHDOG, Watchdog
from ctm.sim.cli.options.machine import Preset, Settings, configuration
from ctm.sim.cli.options.minutes import minutes
from ctm.sim.cli.outcome import BAD_INPUTS, BadInput, Outcome
from ctm.sim.cli.signals import Interruption
from ctm.sim.compiled.tools.package import TEXTUAL
from ctm.sim.debug.console import Console
from ctm.sim.debug.dap.adapter import Adapter, Opened
from ctm.sim.debug.dap.arguments import Arguments
from ctm.sim.debug.dap.channel import Channel, ProtocolError
from ctm.sim.debug.dap.server import Server
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.machine import Hardware
from ctm.sim.debug.session import Session
from ctm.sim.jobs.drawing import draws_in_hardware, hardware_problem
from ctm.sim.jobs.execution import check_kinds
from ctm.sim.jobs.loading import load_job

_STANDARD_INPUT = "-"
_ADDRESS = "127.0.0.1"
_COMPILING = "compiling the machine with its instruction trace, once for this configuration (a minute or two) ..."
_Open = Callable[[Arguments], Opened]


def debug(
    job: Annotated[Path | None, typer.Argument(metavar="JOB.toml", help="The job.", show_default=False)] = None,
    commands: Annotated[
        list[str] | None,
        typer.Option("-x", metavar="FILE", help="Execute the commands of a file, - for standard input; repeatable."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="E", help="golden, or rtl: the hardware, cycle by cycle.")
    ] = "golden",
    preset: Preset = None,
    settings: Settings = None,
    watchdog: Watchdog = DEFAULT_WATCHDOG,
    screen: Annotated[
        bool, typer.Option("--screen", help="Display source, registers, lanes and the output, on the whole terminal.")
    ] = False,
    dap: Annotated[
        bool, typer.Option("--dap", help="Serve an editor: the Debug Adapter Protocol on standard input and output.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535,
            help="With --dap: a port of this computer instead of standard input; 0: a free one.", show_default=False,
        ),
    ] = None,
    hazards: Annotated[
        bool, typer.Option("--hazards", help="Stop before a read of a result that the program has not waited for.")
    ] = False,
) -> None:  # fmt: skip
    """Run a job under a debugger: breakpoints, registers, origins of values, reverse execution (docs/debugger.md)."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        _check(job, dap=dap, port=port, screen=screen, commands=commands)
        options = _Options(preset, settings, watchdog, hazards, engine)
        if dap:
            _serve(outcome, _launching(job, options), port)
            return
        assert job is not None
        scripts = [_script(file) for file in commands or []]
        opened = _opened(job, options)
        with opened.session as session:
            for warning in opened.job.warnings:
                typer.echo(f"warning: {warning}", err=True)
            said: list[str] = []
            say = said.append if screen else outcome.say
            console = Console(session, say, _opener(options))
            console.onecmd("info wavefront")
            console.onecmd("info line")
            for name, lines in scripts:
                if _executed(console, say, name, lines):
                    return
            # Without a standard input Python has none.
            if screen:
                _show(session, said)
            elif sys.stdin is not None and sys.stdin.isatty():
                _interactive(console)
            elif not scripts:
                _executed(console, say, *_script(_STANDARD_INPUT))


def _check(job: Path | None, *, dap: bool, port: int | None, screen: bool, commands: list[str] | None) -> None:
    """BadInput: options exclude each other, or need what is missing."""
    if port is not None and not dap:
        raise BadInput("--port: only an editor connects; give --dap, too")
    if dap and (screen or commands):
        raise BadInput(f"{'--screen' if screen else '-x'}: with --dap commands come from the editor")
    if dap and port is None and (sys.stdin is None or sys.stdout is None):
        raise BadInput("--dap: an editor uses standard input and output, and one of them is closed")
    if job is None and not dap:
        raise BadInput("a job is missing: ctm debug JOB.toml; an editor may name it with --dap only")
    if screen:
        TEXTUAL.require()
        if any(stream is None or not stream.isatty() for stream in (sys.stdin, sys.stdout)):
            raise BadInput("--screen: there is no terminal; without it commands come from standard input")


@dataclass(frozen=True)
class _Options:
    """Options of a session besides its job."""

    preset: str | None
    settings: list[str] | None
    watchdog: int
    hazards: bool
    engine: str
    batches: bool = False
    """Threads of draws are in the hardware's wavefronts on engine golden, too."""


def _opened(job: Path, options: _Options) -> Opened:
    loaded = load_job(job, None)
    draws = draws_in_hardware(loaded, "rtl" if options.batches else options.engine)
    config = configuration(options.preset, options.settings, kind=loaded.kinds[0], draws=draws)
    check_kinds(loaded, config)
    # The session reports jobs that the hardware cannot draw.
    if options.engine == "rtl" and not hardware_problem(loaded, config):
        config.check_hardware()
        with minutes(_COMPILING) as tell:
            Hardware.prepare(config, tell)
    try:
        session = Session(
            loaded, config, engine=options.engine, watchdog=options.watchdog, hazards=options.hazards,
            batches=options.batches,
        )  # fmt: skip
    except DebugError as error:
        raise BadInput(str(error)) from None
    if session.result is not None:
        for warning in loaded.warnings:
            typer.echo(f"warning: {warning}", err=True)
        raise BadInput(f"{job}: no launch has a wavefront to debug")
    return Opened(session, loaded)


def _opener(options: _Options) -> Callable[[str], Session]:
    """Opens another job to compare with, on the golden model, with the same wavefronts as on the engine."""
    own = replace(options, engine="golden", batches=options.engine == "rtl")

    def opened(path: str) -> Session:
        try:
            return _opened(Path(path), own).session
        except OSError as error:
            raise DebugError(f"{error.filename or path}: {error.strerror or error}") from None
        except BAD_INPUTS as error:
            raise DebugError(str(error)) from None

    return opened


def _launching(job: Path | None, options: _Options) -> _Open:
    """Opens the job of an editor's launch request; arguments that it lacks are those of the command line."""

    def opened(given: Arguments) -> Opened:
        named = given.optional("job", str)
        path = Path(named).expanduser() if named is not None else job
        if path is None:
            raise DebugError("argument job is missing: the path of a job file")
        wanted = given.optional("set", list)
        number, watches = given.optional("watchdog", int), given.optional("hazards", bool)
        chosen = _Options(
            preset=given.optional("preset", str) or options.preset,
            settings=options.settings if wanted is None else [str(each) for each in wanted],
            watchdog=options.watchdog if number is None else number,
            hazards=options.hazards if watches is None else watches,
            engine=given.optional("engine", str) or options.engine,
        )
        try:
            return _opened(path, chosen)
        except OSError as error:
            raise DebugError(f"{error.filename or path}: {error.strerror or error}") from None
        except BAD_INPUTS as error:
            raise DebugError(str(error)) from None

    return opened


def _serve(outcome: Outcome, launch: _Open, port: int | None) -> None:
    """Serve an editor: on standard input and output, or one after another on a port of this computer."""
    if port is None:
        channel = Channel(sys.stdin.buffer, sys.stdout.buffer)
        # Standard output is for messages of the protocol only.
        with redirect_stdout(sys.stderr):
            try:
                Server(channel, Adapter(channel, launch)).serve()
            except ProtocolError as error:
                raise BadInput(f"--dap: standard input: {error}") from None
        return
    try:
        listening = socket.create_server((_ADDRESS, port))
    except OSError as error:
        raise BadInput(f"--port {port}: {error.strerror}; 0 takes a free one") from None
    with listening:
        outcome.say(f"an editor may connect to {_ADDRESS}:{listening.getsockname()[1]}; Ctrl-C ends it")
        while True:
            connection, _ = listening.accept()
            # An editor that disconnects is no error of this program.
            with (
                connection,
                connection.makefile("rb") as source,
                connection.makefile("wb") as target,
                suppress(OSError),
            ):
                channel = Channel(source, target)
                try:
                    Server(channel, Adapter(channel, launch)).serve()
                except ProtocolError as error:
                    typer.echo(f"error: --port: {error}", err=True)


def _show(session: Session, said: list[str]) -> None:
    # Textual is an optional package.
    from ctm.sim.debug.screen.application import DebugScreen

    number = DebugScreen(session, said).run()
    if number:
        raise Interruption(number)


def _script(file: str) -> tuple[str, Iterator[str]]:
    if file == _STANDARD_INPUT:
        return "standard input", iter(sys.stdin or ())
    try:
        return file, iter(Path(file).read_text(encoding="utf-8-sig").splitlines())
    except UnicodeDecodeError:
        raise BadInput(f"-x {file}: it is no text") from None


def _executed(console: Console, say: Callable[[str], None], name: str, lines: Iterator[str]) -> bool:
    """Execute the lines of a script up to the first that fails; whether one of them ended the session."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            say(f"{console.prompt}{line.strip()}")
        if console.execute(line):
            return True
        if console.error is not None:
            raise BadInput(f"{name}:{number}: {line.strip()}: {console.error}")
    return False


def _interactive(console: Console) -> None:
    """Read lines from the terminal; Ctrl-C ends the running command, not the session."""
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
