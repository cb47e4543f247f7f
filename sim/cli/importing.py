"""``ctm import``: programs that other compilers made."""

from pathlib import Path
from typing import Annotated

import typer

from ctm.rtl.isa.executable import ELF_MAGIC
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.elf import ElfError, Executable, ShaderError, read_shader, write
from ctm.sim.elf.r700.llvm.objects import read_object
from ctm.sim.files import is_same_file, read_file, write_file
from ctm.sim.runtime.prologue.compiled import ready


def import_program(
    source: Annotated[
        Path,
        typer.Argument(metavar="OBJECT", help="An object of LLVM for the RV770, or a JSON.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.elf", help="The executable.")],
) -> None:
    """Make an executable of a program that LLVM compiled for the RV770, or of the JSON form of a compiled program."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        if is_same_file(source, output):
            raise BadInput(f"-o {output}: the executable would replace what it is made of")
        try:
            contents = read_file(source)
            executable, said = _read(contents)
        except ShaderError as error:
            raise BadInput(f"{source}: no ELF file, and no compiled program as JSON: {error}") from None
        except (ElfError, ValueError) as error:
            raise BadInput(f"{source}: {error}") from None
        write_file(output, write(executable))
        for line in said:
            outcome.say(line)
        outcome.say(f"{output}: a program for {executable.kind}")


def _read(contents: bytes) -> tuple[Executable, list[str]]:
    """The program, and what there is to tell of it."""
    if contents.startswith(ELF_MAGIC):
        return read_object(contents)
    shader = read_shader(contents)
    executable, inputs = ready(shader)
    said = [f"R{register} is loaded from input {index} (FLOAT32_4)" for register, index in sorted(inputs.items())]
    if shader.float_constants or shader.int_constants:
        said.append("its constants are not in an executable: give them in the job")
    return executable, said
