"""``ctm asm``, ``ctm disasm`` and ``ctm info``: programs as files."""

from pathlib import Path
from typing import Annotated

import typer

from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.assembler import AssemblyError, assemble, disassemble
from ctm.sim.cli.options.files import ASSEMBLY, EXECUTABLE, explained
from ctm.sim.cli.options.machine import Json
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.elf import ElfError, Executable, describe, read, write
from ctm.sim.elf.sources import with_lines, with_texts
from ctm.sim.files import (
    STANDARD,
    STANDARD_OUTPUT,
    is_same_file,
    naming,
    read_file,
    read_standard_input,
    write_result,
)
from ctm.sim.report.executable import print_description

_File = Annotated[
    Path, typer.Argument(metavar="FILE.elf", help="An executable; - for standard input.", show_default=False)
]


def asm(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE.s", help="The source; - for standard input.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT.elf", help="The executable; - for standard output.")
    ],
    lines: Annotated[
        bool, typer.Option("--lines/--no-lines", help="Write the table of source lines to the executable.")
    ] = True,
) -> None:
    """Assemble a source to an executable."""
    with Outcome(json_wanted=False).reported():
        if STANDARD not in (source, output) and is_same_file(source, output):
            raise BadInput(f"-o {output}: the executable would replace its source")
        program = _assembled(_name(source), _contents(source))
        stage = getattr(program, "stage", None)
        if stage is not None:
            is_of_jobs = stage in (DrawStage.VS, DrawStage.PS)
            what = "name it as vertex or pixel of a job" if is_of_jobs else "docs/draws.md links it with the others"
            raise BadInput(f"{_name(source)}: it is one program of a draw: {what}")
        data = write(program if lines else with_lines(program, None))
        write_result(output, data)


def disasm(file: _File) -> None:
    """Disassemble an executable to source that assembles to the same bytes."""
    with Outcome(json_wanted=False).reported():
        folders = [] if file == STANDARD else [file.parent]
        source = disassemble(with_texts(_read(file), folders), sources=True)
        with naming(STANDARD_OUTPUT):
            typer.echo(source, nl=False)


def info(file: _File, json_wanted: Json = False) -> None:
    """Print what is in an executable."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        description = describe(_read(file))
        outcome.fields |= description
        if not json_wanted:
            with naming(STANDARD_OUTPUT):
                print_description(description)


def _assembled(name: str, contents: bytes) -> Executable:
    try:
        return assemble(contents.decode("utf-8-sig"), name=name)
    except UnicodeDecodeError as error:
        problem = BadInput(f"{name}: it is not UTF-8 text (byte {error.start})")
        raise explained(problem, name, contents, wanted=ASSEMBLY) from None
    except AssemblyError as error:
        raise explained(error, name, contents, wanted=ASSEMBLY) from None


def _contents(file: Path) -> bytes:
    return read_standard_input() if file == STANDARD else read_file(file)


def _name(file: Path) -> str:
    return "<stdin>" if file == STANDARD else str(file)


def _read(file: Path) -> Executable:
    contents = _contents(file)
    try:
        return read(contents)
    except ElfError as error:
        problem = BadInput(f"{_name(file)}: {error}")
        raise explained(problem, _name(file), contents, wanted=EXECUTABLE) from None
