"""Compiled kernels, kept in the cache folder until they, or what compiles them, change."""

import hashlib
import linecache
from functools import cache
from pathlib import Path
from typing import Any

from ctm.sim import assembler, compiler, elf
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.cache import cached
from ctm.sim.compiler import compile_translation
from ctm.sim.compiler.clang import CLANG
from ctm.sim.compiler.ir.passes import LLVM
from ctm.sim.compiler.python import Translation
from ctm.sim.elf import ElfError, Executable, read, write
from ctm.sim.elf.sources import with_sources


def compiled(translation: Translation, isa: str) -> Executable:
    """The program of a kernel for an instruction set, from the cache if it is there; errors as `compile_kernel`."""
    source = translation.source
    key = (source.name, source.text, isa, CLANG.version, LLVM.version if LLVM.is_installed else "", _compiler())

    def make(_: Path, target: Path) -> None:
        target.write_bytes(write(compile_translation(translation, isa=isa).executable))

    try:
        program = read(cached("kernel", key, ".elf", make).read_bytes())
    except (ToolchainError, OSError, ElfError):
        # Where nothing can be kept it is compiled each time; where a tool is missing, that is said here.
        program = compile_translation(translation, isa=isa).executable
    return with_sources(program, _texts(program))


def _texts(program: Executable) -> dict[str, str]:
    """The texts of files as Python knows them, which has those of a notebook's cells too."""
    lines: Any = getattr(program, "lines", None)
    files = () if lines is None else lines.files
    return {file: "".join(text) for file in files if (text := linecache.getlines(file))}


@cache
def _compiler() -> str:
    """A hash of everything that makes a kernel's program what it is, but for the kernel."""
    digest = hashlib.sha256()
    folders = [Path(package.__path__[0]) for package in (compiler, assembler, elf)]
    for path in sorted(path for folder in folders for path in folder.rglob("*.[ph]*") if path.suffix in (".py", ".h")):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
