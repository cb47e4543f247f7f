"""The ``ctm`` command and its subcommands."""

import importlib.metadata
from typing import Annotated

import typer

from ctm.sim.cli.bench import bench
from ctm.sim.cli.doctor import doctor
from ctm.sim.cli.execute import execute
from ctm.sim.cli.hardware import verilog
from ctm.sim.cli.importing import import_program
from ctm.sim.cli.programs import asm, disasm, info
from ctm.sim.cli.run import run
from ctm.sim.cli.synth import synth
from ctm.sim.compiled.tools.package import PROJECT

app = typer.Typer(
    name="ctm",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ctm {importlib.metadata.version(PROJECT)}")
        raise typer.Exit


@app.callback()
def ctm(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """ATI's CTM machine (2006): run programs on it, assemble and inspect them."""


app.command()(run)
app.command("exec")(execute)
app.command()(asm)
app.command()(disasm)
app.command()(info)
app.command("import")(import_program)
app.command()(verilog)
app.command()(bench)
app.command()(synth)
app.command()(doctor)
