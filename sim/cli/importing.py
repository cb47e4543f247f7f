"""``ctm import``: programs that other compilers made."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ctm.rtl.isa.executable import ELF_MAGIC
from ctm.sim.cli.options.files import COMPILED, explained
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.draws.recorded import COMPILERS, import_draw, is_draw
from ctm.sim.elf import ElfError, Executable, ShaderError, read_shader, write
from ctm.sim.elf.r700.llvm.objects import read_object
from ctm.sim.files import is_same_file, read_file, write_file
from ctm.sim.jobs.arrays import encoded
from ctm.sim.runtime.prologue.compiled import ready


def import_program(
    source: Annotated[
        Path,
        typer.Argument(metavar="OBJECT", help="An object of LLVM for the RV770, or a JSON.", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="OUT", help="The executable; for a recorded draw the job's folder."),
    ],
    compiler: Annotated[
        str | None, typer.Option("--compiler", help="Compiler of a recorded draw's programs; default: sfn.")
    ] = None,
) -> None:
    """Convert an LLVM object for the RV770, or a compiled program as JSON, to an executable; a draw to a job."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        if is_same_file(source, output):
            raise BadInput(f"-o {output}: the executable would replace what it is made of")
        try:
            contents = read_file(source)
            document = _draw_in(contents)
            if document is not None:
                _import_draw(outcome, source, document, output, compiler)
                return
            if compiler is not None:
                raise BadInput(f"--compiler: {source} is no recorded draw")
            executable, notes = _read(contents)
        except ShaderError as error:
            problem = BadInput(f"{source}: no ELF file, and no compiled program as JSON: {error}")
            raise explained(problem, str(source), contents, wanted=COMPILED) from None
        except (ElfError, ValueError) as error:
            raise BadInput(f"{source}: {error}") from None
        write_file(output, write(executable), make_folders=True)
        for line in notes:
            outcome.say(line)
        outcome.say(f"{output}: a program for {executable.kind}")


def _draw_in(contents: bytes) -> Mapping[str, Any] | None:
    """The document of a recorded draw, None if it is something else."""
    if contents.startswith(ELF_MAGIC):
        return None
    try:
        document = json.loads(contents)
    except ValueError:
        return None
    return document if is_draw(document) else None


def _import_draw(
    outcome: Outcome, source: Path, document: Mapping[str, Any], folder: Path, compiler: str | None
) -> None:
    try:
        found = import_draw(source, document, compiler)
    except (KeyError, TypeError) as error:
        raise BadInput(f"{source}: a key is missing or has a wrong value: {error}") from None
    for warning in found.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for name, contents in found.files.items():
        path = folder / name
        if is_same_file(path, source):
            raise BadInput(f"-o {folder}: {path} would replace what it is made of")
        if isinstance(contents, str):
            write_file(path, contents.encode(), make_folders=True)
        elif isinstance(contents, bytes):
            write_file(path, contents, make_folders=True)
        else:
            write_file(path, encoded(path, contents), make_folders=True)
    outcome.say(f"{folder / found.name}.toml: a draw with the programs of {compiler or COMPILERS[0]}")


def _read(contents: bytes) -> tuple[Executable, list[str]]:
    """The program of a file, and lines about it for the user."""
    if contents.startswith(ELF_MAGIC):
        return read_object(contents)
    shader = read_shader(contents)
    executable, inputs = ready(shader)
    notes = [f"R{register} is loaded from input {index} (FLOAT32_4)" for register, index in sorted(inputs.items())]
    if shader.float_constants or shader.int_constants:
        notes.append("its constants are not in an executable: give them in the job")
    return executable, notes
