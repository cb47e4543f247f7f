"""Options of subcommands that run programs: the engine and its limits."""

from typing import Annotated

import typer

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.link import BAUD
from ctm.sim.cli.options.machine import one_of
from ctm.sim.cli.options.minutes import minutes
from ctm.sim.cli.outcome import BadInput
from ctm.sim.engines.choice import ENGINES, REMOVED, TRACED, check_port, engine_class
from ctm.sim.engines.engine import compiling
from ctm.sim.engines.seen import Watching
from ctm.sim.engines.waves.window import Waves
from ctm.sim.runtime.device import MOST_WATCHDOG, WATCHDOG

EngineName = Annotated[
    str,
    typer.Option("--engine", metavar="E", help=f"The engine: {', '.join(ENGINES)}.", autocompletion=one_of(ENGINES)),
]
Watchdog = Annotated[
    int,
    typer.Option(
        "--watchdog", min=0, max=MOST_WATCHDOG, help="Instructions that a wavefront may execute; 0: no limit."
    ),
]
Port = Annotated[
    str | None,
    typer.Option(
        "--port", metavar="PATH[@BAUD]", help=f"Engine serial: the board's port, such as /dev/ttyUSB0; {BAUD} baud.",
        show_default=False,
    ),
]  # fmt: skip
MaxCycles = Annotated[
    int | None, typer.Option("--max-cycles", min=1, help="Cycles that a run may take; cycle-accurate engines only.")
]
DEFAULT_WATCHDOG = WATCHDOG


def check_engine(
    name: str, max_cycles: int | None, *, port: str | None = None, hazards: bool = False, trace: bool = False
) -> None:
    """Reject an engine that does not exist or lacks a wanted feature; warn about a limit that has no effect."""
    if name in REMOVED:
        raise BadInput(f"--engine: {name} was removed: {REMOVED[name]}")
    if name not in ENGINES:
        raise BadInput(f"--engine: there is no engine '{name}'; there is: {', '.join(ENGINES)}")
    if hazards and ENGINES[name].counts_cycles:
        raise BadInput(f"--hazards: engine '{name}' does not detect them; engine 'golden' does")
    if trace and ENGINES[name].counts_cycles:
        raise BadInput(f"--trace: engine '{name}' writes none; engine 'golden' does")
    try:
        check_port(name, port)
    except ValueError as error:
        raise BadInput(f"--port: {error}") from None
    if max_cycles is not None and not ENGINES[name].counts_cycles:
        typer.echo(f"note: engine '{name}' counts no cycles, so --max-cycles has no effect; see --watchdog", err=True)


def prepare_engine(name: str, config: MachineConfig, watch: Watching | None = None) -> None:
    """Build what the engine needs, with a message, because it takes a while the first time."""
    try:
        with minutes(compiling(name)) as tell:
            if isinstance(watch, Waves):
                TRACED[name].prepare_traced(config, watch, tell)
            else:
                engine_class(name, watch).prepare(config, tell)
    except ValueError as error:
        raise BadInput(str(error)) from None
