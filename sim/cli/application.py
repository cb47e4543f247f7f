"""The ``ctm`` command and its subcommands."""

import importlib
from collections.abc import Iterable
from typing import Annotated

import typer

from ctm.sim.compiled.tools.package import PROJECT

_COMMANDS = {
    "run": ("run", "run"),
    "debug": ("debug", "debug"),
    "exec": ("execute", "execute"),
    "asm": ("programs", "asm"),
    "cc": ("compiling", "cc"),
    "disasm": ("programs", "disasm"),
    "info": ("programs", "info"),
    "import": ("importing", "import_program"),
    "verilog": ("hardware", "verilog"),
    "explore": ("explore", "explore"),
    "bench": ("benchmarks.bench", "bench"),
    "sweep": ("sweep.command", "sweep"),
    "synth": ("synth", "synth"),
    "bitstream": ("bitstream", "make_bitstream"),
    "verify": ("verify", "verify"),
    "doctor": ("doctor", "doctor"),
}
"""The module of each subcommand, and its function there."""
_VERSION = "--version"


def application(wanted: str | None = None) -> typer.Typer:
    """The command; of its subcommands only the `wanted` one, which saves the others' imports, or all if it is none.

    Its version needs none of them.
    """
    app = typer.Typer(
        name="ctm",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(ctm)
    if wanted == _VERSION:
        names: Iterable[str] = ()
    else:
        names = [wanted] if wanted in _COMMANDS else _COMMANDS
    for name in names:
        module, function = _COMMANDS[name]
        app.command(name)(getattr(importlib.import_module(f"ctm.sim.cli.{module}"), function))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"ctm {metadata.version(PROJECT)}")
        raise typer.Exit


def ctm(
    version: Annotated[
        bool, typer.Option(_VERSION, help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """ATI's CTM machine (2006): run programs on it, assemble and inspect them."""
