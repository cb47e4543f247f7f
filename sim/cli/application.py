"""The ``ctm`` command and its subcommands."""

import typer

from ctm.sim.cli.bench import bench
from ctm.sim.cli.doctor import doctor
from ctm.sim.cli.execute import execute
from ctm.sim.cli.hardware import verilog
from ctm.sim.cli.programs import asm, disasm, info
from ctm.sim.cli.run import run
from ctm.sim.cli.synth import synth

app = typer.Typer(
    name="ctm",
    help="ATI's CTM machine (2006): run programs on it, assemble and inspect them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(run)
app.command("exec")(execute)
app.command()(asm)
app.command()(disasm)
app.command()(info)
app.command()(verilog)
app.command()(bench)
app.command()(synth)
app.command()(doctor)


def main() -> None:
    """Entry point."""
    app()
