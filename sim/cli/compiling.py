"""``ctm cc``: kernels in C and Python."""

from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.options.files import KERNEL, explained
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import kernel_in
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.elf import write
from ctm.sim.files import is_same_file, write_result


def cc(
    source: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL.c|.py[:NAME]", help="A source in C or Python, and its kernel's name.", show_default=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT.elf", help="The executable; - for standard output.")
    ],
    isa: Annotated[str, typer.Option("--isa", metavar="ISA", help=f"The instruction set: {', '.join(TARGETS)}.")] = (
        DEFAULT_TARGET
    ),
    kernel: Annotated[
        str | None, typer.Option("--kernel", metavar="NAME", help="The kernel, if the source has several.")
    ] = None,
) -> None:
    """Compile a kernel in C or Python to an executable."""
    with Outcome(json_wanted=False).reported():
        file, named = kernel_in(source)
        if None not in (kernel, named):
            raise BadInput(f"--kernel {kernel}: {source} names a kernel too")
        if is_same_file(Path(file), output):
            raise BadInput(f"-o {output}: the executable would replace its source")
        try:
            compiled = compile_kernel(Path(file), isa=isa, name=kernel or named)
        except KernelError as error:
            raise explained(error, file, b"", wanted=KERNEL) from None
        except ValueError as error:
            raise BadInput(f"--isa: {error}") from None
        for warning in compiled.warnings:
            typer.echo(f"warning: {warning}", err=True)
        write_result(output, write(compiled.executable))
