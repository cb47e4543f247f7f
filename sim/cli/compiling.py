"""``ctm cc``: kernels in C."""

from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.elf import write
from ctm.sim.files import is_same_file, write_file


def cc(
    source: Annotated[
        Path, typer.Argument(metavar="KERNEL.c", help="A source that includes ctm/kernel.h.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.elf", help="The executable.")],
    isa: Annotated[str, typer.Option("--isa", metavar="ISA", help=f"The instruction set: {', '.join(TARGETS)}.")] = (
        DEFAULT_TARGET
    ),
    kernel: Annotated[
        str | None, typer.Option("--kernel", metavar="NAME", help="Which kernel of the source, if it has several.")
    ] = None,
) -> None:
    """Compile a kernel in C into an executable."""
    with Outcome(json_wanted=False).reported():
        if is_same_file(source, output):
            raise BadInput(f"-o {output}: the executable would replace its source")
        try:
            compiled = compile_kernel(source, isa=isa, name=kernel)
        except ValueError as error:
            raise BadInput(f"--isa: {error}") from None
        for warning in compiled.warnings:
            typer.echo(f"warning: {warning}", err=True)
        write_file(output, write(compiled.executable))
