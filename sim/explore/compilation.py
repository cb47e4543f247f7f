"""From a source to its programs: one for each instruction set that it can be for, or its errors."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctm.sim.assembler import AssemblyError
from ctm.sim.assembler.languages import LANGUAGES, assemble, statements
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.clang import KERNEL_FOLDER, seeing_only
from ctm.sim.compiler.error import Diagnostic, KernelError
from ctm.sim.compiler.source import SUFFIXES, Source
from ctm.sim.compiler.targets import TARGETS
from ctm.sim.elf import Executable
from ctm.sim.elf.sources import checksum, with_lines
from ctm.sim.explore.folder import includes
from ctm.sim.explore.request import Instruction, Problem, Program, Request


@dataclass(frozen=True)
class Compiled:
    """A program as it is shown, and as it runs; without the latter it has problems."""

    program: Program
    executable: Executable | None = None


def compiled(request: Request, kernel: str | None, scratch: Path) -> list[Compiled]:
    """The programs of a source, whose own includes are in its folder; `scratch` is a folder to write in.

    Of assembly it is one. A file in Python is read and not executed, and nothing that it imports is.
    """
    if not request.name.endswith(SUFFIXES):
        return [_assembled(request)]
    files = includes(Path(request.folder)) if request.folder else {}
    source = Source(request.text, request.name, KERNEL_FOLDER)
    with seeing_only(files, scratch / "overlay.json"):
        return [_kernel(source, isa, kernel) for isa in TARGETS]


def _assembled(request: Request) -> Compiled:
    try:
        executable = assemble(request.text, name=request.name)
    except AssemblyError as error:
        problems = tuple(Problem(message=each.message, line=each.line, column=each.column) for each in error.errors)
        return Compiled(Program(isa="", problems=problems))
    isa = next(name for name, language in LANGUAGES.items() if language.kind == executable.kind)
    return _shown(isa, executable, request.text, request.name, ())


def _kernel(source: Source, isa: str, kernel: str | None) -> Compiled:
    try:
        found = compile_kernel(source, isa=isa, name=kernel)
    except KernelError as error:
        return Compiled(Program(isa=isa, problems=tuple(_problem(each, source.name) for each in error.errors)))
    except RecursionError:
        return Compiled(Program(isa=isa, problems=(Problem(message="it is nested too deeply to be compiled"),)))
    warnings = (replace(_problem(each, source.name), is_warning=True) for each in found.warnings)
    return _shown(isa, found.executable, source.text, source.name, tuple(warnings))


def _problem(said: Diagnostic, name: str) -> Problem:
    file, line, column = said.location
    if file == name:
        return Problem(message=said.message, line=line, column=column)
    shown = file.removeprefix(f"{KERNEL_FOLDER}/")
    return Problem(message=said.message, location=f"{shown}:{line}" if line else shown)


def _shown(isa: str, executable: Executable, text: str, name: str, problems: tuple[Problem, ...]) -> Compiled:
    program = _with_one_text(executable, name, text)
    instructions = tuple(_instructions(program, name))
    return Compiled(Program(isa=isa, instructions=instructions, problems=problems), program)


def _with_one_text(executable: Executable, name: str, text: str) -> Executable:
    """The program with the text of its own source only: a `#line` may name any file, whose text was not asked for."""
    lines = executable.lines
    if lines is None:
        return executable
    return with_lines(executable, replace(lines, checksums={name: checksum(text)}, texts={name: text}))


def _instructions(executable: Any, name: str) -> Iterator[Instruction]:
    lines = executable.lines
    for unit, text in sorted(statements(executable).items()):
        line = lines.at(unit) if lines is not None else None
        yield Instruction(unit=unit, text=text, line=line.line if line is not None and line.file == name else 0)
