"""``ctm asm``, ``ctm disasm`` and ``ctm info``: programs as files."""

from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.assembler import assemble, disassemble
from ctm.sim.cli.options import Json
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.elf import ElfError, Executable, read, write
from ctm.sim.report.executable import describe, print_description

_File = Annotated[Path, typer.Argument(metavar="FILE.elf", help="An executable.", show_default=False)]


def asm(
    source: Annotated[Path, typer.Argument(metavar="SOURCE.s", help="The source.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.elf", help="The executable.")],
) -> None:
    """Assemble a source into an executable."""
    with Outcome(json_wanted=False).reported():
        try:
            text = source.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{source}: it is not UTF-8 text (byte {error.start})") from None
        data = write(assemble(text, name=str(source)))
        output.write_bytes(data)


def disasm(file: _File) -> None:
    """Print an executable as source that assembles to the same bytes."""
    with Outcome(json_wanted=False).reported():
        typer.echo(disassemble(_read(file)), nl=False)


def info(file: _File, json_wanted: Json = False) -> None:
    """Show what is in an executable."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        description = describe(_read(file))
        outcome.fields |= description
        if not json_wanted:
            print_description(description)


def _read(file: Path) -> Executable:
    try:
        return read(file.read_bytes())
    except ElfError as error:
        raise BadInput(f"{file}: {error}") from None
