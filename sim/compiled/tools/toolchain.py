"""From Verilog and C++ to a shared object, by Verilator and a C++ compiler, kept in the cache."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.apart import settings
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.cache import cached, is_cached
from ctm.sim.compiled.tools.clang import CACHE_VARIABLE, clang_beside
from ctm.sim.compiled.tools.package import VERILATOR, installation
from ctm.sim.compiled.tools.programs import Tools, check, run

_BUILD = "9"
"""A version of this module's output; to be changed with anything that the flags below do not say."""
_VERILATOR_FLAGS = (
    "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert", "--no-timing", "-Wno-fatal", "-Wno-lint",
    # Comments are a quarter of the code.
    "--decorations", "none",
    # Files and functions of limited size; Verilator's own build, which would want a precompiled header, is not used.
    "--output-split", "30000", "--output-split-cfuncs", "10000", "--quiet",
)  # fmt: skip
# As C++20 the library's headers take twice as long, which is a third of the time of a small model.
_STANDARD = "-std=c++17"
_COMPILER_FLAGS = ("-DVL_TIME_CONTEXT", "-DNDEBUG", "-fPIC", "-fvisibility=hidden")
# What runs in each cycle, and what runs once and is often long, as the contents of a memory are. For a small model -O1
# takes as long to compile and gives 5 to 25 % less speed; -O3 is not faster. A large one is bound by the instruction
# cache: with g++ -Os gives 12 % more speed than -O2, and functions of limited size another 6 % in two thirds of the
# time. Clang gives 30 % more speed than that in a quarter of the time, with -O1 as with -O2 and -Os.
_MODEL_FLAGS = ("-O2",)
_LARGE_MODEL_FLAGS = ("-Os",)
_CLANG_FLAGS = ("-O1",)
_START_FLAGS = ("-O0",)
# In the same file as the other code, because the headers alone take a second.
_START = '\n#pragma GCC optimize("O0")\n'
_LARGE_MODEL = 900_000
"""Bytes of C++ from which on a model is large; it is then compiled as several translation units, in parallel."""
_PROCESSES = 2
_RUNTIME = "runtime"
_RUNTIME_SOURCES = ("verilated.cpp", "verilated_threads.cpp")
_HEADER = "headers.h"
_HEADER_TEXT = '#include "verilated.h"\n'


@dataclass(frozen=True)
class Verilator:
    """The Verilator of the Python package `verilator`."""

    root: Path
    version: str

    @property
    def include(self) -> tuple[str, ...]:
        """The compiler's options for the headers."""
        return f"-I{self.root / 'include'}", f"-I{self.root / 'include' / 'vltstd'}"


@dataclass(frozen=True)
class Model:
    """Verilog whose module `top` becomes a model, and C++ that belongs to it."""

    top: str
    verilog: str
    header: str = ""
    options: tuple[str, ...] = ()
    """More options of Verilator's."""
    wrapper_apart: bool = False
    """Whether the wrapper is compiled by itself, because it cannot stand after the models' own code."""


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler; `command` may have options."""

    command: tuple[str, ...]
    version: str
    large_model_flags: tuple[str, ...] = _LARGE_MODEL_FLAGS

    @property
    def is_gcc(self) -> bool:
        """Whether it is g++, whatever its command."""
        return "Free Software Foundation" in self.version


@dataclass(frozen=True)
class Toolchain:
    """The installed tools; `large` compiles large models."""

    verilator: Verilator
    compiler: Compiler
    large: Compiler

    @property
    def key(self) -> tuple[str, ...]:
        """The tools' versions and options, for the key of a cached file."""
        compilers = (unit for each in (self.compiler, self.large) for unit in (*each.command, each.version))
        flags = (*_VERILATOR_FLAGS, *_COMPILER_FLAGS, *_MODEL_FLAGS, *_START_FLAGS, _START, _STANDARD)
        return (_BUILD, self.verilator.version, *compilers, *self.large.large_model_flags, *flags)


@dataclass(frozen=True)
class TranslationUnit:
    """C++ that becomes one object file."""

    compiler: Compiler
    name: str
    text: str
    flags: tuple[str, ...]


def build(model: Model | Callable[[], Model], wrapper: str, *, key: str = "") -> Path:
    """The shared object of a model and a C++ wrapper around it.

    The module's class is `V` and its name, its header ``"V<name>.h"``; ``"models.h"`` includes that and the model's
    own. Of the wrapper only functions with default visibility can be called. The file may be replaced by the same
    again, never changed. A model that takes long to write can be given as a function, which is called only if the
    cache has nothing under `key`: that must then stand for all that it is made from.

    Raises
    ------
    ToolchainError
        A tool is missing or failed, or the cache folder cannot be written.
    """
    tools = find_tools()
    made_from = (key,) if callable(model) else _made_from(model)

    def make(folder: Path, target: Path) -> None:
        with runtime_beside(tools):
            made = model() if callable(model) else model
            own = verilate(tools.verilator, made, folder)
            write_header(folder, [own], made.header)
            units = model_units(tools, own, "" if made.wrapper_apart else wrapper)
            if made.wrapper_apart:
                units.append(TranslationUnit(tools.compiler, "wrapper", wrapper, _MODEL_FLAGS))
            units = _with_headers(tools.verilator, units, folder)
            options = (_STANDARD, *tools.verilator.include, f"-I{folder}", f"-I{own}")
            link(tools, compile_units(units, folder, options), target)

    return cached("model", (*made_from, wrapper, *tools.key), ".so", make)


def _made_from(model: Model) -> tuple[str, ...]:
    """What of a model the compiled one depends on."""
    options = (*model.options, *(["apart"] if model.wrapper_apart else []))
    return (model.top, model.verilog, model.header, *options)


def write_header(folder: Path, models: Sequence[Path], text: str = "") -> None:
    """Write ``models.h``, which includes the headers of models by their folders, followed by `text`."""
    (folder / "models.h").write_text(_includes(own / f"V{own.name}.h" for own in models) + text)


def model_units(tools: Toolchain, folder: Path, wrapper: str = "") -> list[TranslationUnit]:
    """The translation units of a model that Verilator wrote into `folder`, and of its wrapper."""
    generated = set(folder.glob("*.cpp"))
    start = {path for path in generated if path.stem.endswith("Slow")}
    cycle = generated - start
    compiler, large = tools.compiler, tools.large
    # The wrapper's calls should be seen together with the function that they call most.
    if _size(cycle) < _LARGE_MODEL:
        text = _includes(cycle) + wrapper + _START + _includes(start)
        return [TranslationUnit(compiler, f"{folder.name}_0", text, _MODEL_FLAGS)]
    texts = [_includes(share) for share in _shares(cycle, _PROCESSES)]
    units = [
        TranslationUnit(large, f"{folder.name}_{number}", text + wrapper * (number == 0), large.large_model_flags)
        for number, text in enumerate(texts)
    ]
    return [*units, TranslationUnit(large, f"{folder.name}_start", _includes(start), _START_FLAGS)]


def link(tools: Toolchain, objects: Sequence[Path], target: Path) -> None:
    """Link objects, and Verilator's own code, to a shared object."""
    listed = map(str, (*objects, _runtime(tools.verilator, tools.compiler)))
    run([*tools.compiler.command, "-shared", *listed, "-o", str(target), "-lpthread"], target.parent)


def compile_units(units: Sequence[TranslationUnit], folder: Path, options: Sequence[str]) -> list[Path]:
    """Object files in the order of the translation units, which should be the longest to compile first.

    Two are compiled at a time. Of a function that is in several objects the linker takes the first, so that should be
    the optimised one.
    """
    objects = [folder / f"{unit.name}.o" for unit in units]
    with Tools(_PROCESSES) as tools:
        runs = []
        for unit in units:
            source = folder / f"{unit.name}.cc"
            source.write_text(unit.text)
            command = [*unit.compiler.command, *_COMPILER_FLAGS, *unit.flags, *options, "-c", source.name]
            runs.append(tools.start(command, folder, environment={CACHE_VARIABLE: str(folder)}))
        for result in runs:
            check(result.result())
    return objects


def _size(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _shares(files: Iterable[Path], count: int) -> list[list[Path]]:
    """Files in `count` lists of about the same size in bytes."""
    shares: list[list[Path]] = [[] for _ in range(count)]
    for path in sorted(files, key=lambda path: path.stat().st_size, reverse=True):
        min(shares, key=_size).append(path)
    return shares


@contextmanager
def runtime_beside(tools: Toolchain) -> Iterator[None]:
    """Let a process make what `link` adds, if the cache does not have it, while the block makes the objects."""
    made_from = tools.verilator, tools.compiler
    with nullcontext() if is_cached(_RUNTIME, _runtime_key(*made_from), ".o") else Beside(_runtime, *made_from):
        yield


def _runtime_key(verilator: Verilator, compiler: Compiler) -> tuple[str, ...]:
    return (verilator.version, *compiler.command, compiler.version, _STANDARD, *_COMPILER_FLAGS, *_MODEL_FLAGS)


def _runtime(verilator: Verilator, compiler: Compiler) -> Path:
    """Verilator's own C++, which all models share, as one object file; waits while another process makes it."""
    sources = [verilator.root / "include" / name for name in _RUNTIME_SOURCES]

    def make(folder: Path, target: Path) -> None:
        unit = TranslationUnit(compiler, "runtime", _includes(sources), _MODEL_FLAGS)
        (made,) = compile_units([unit], folder, (_STANDARD, *verilator.include))
        made.replace(target)

    return cached(_RUNTIME, _runtime_key(verilator, compiler), ".o", make)


def _with_headers(verilator: Verilator, units: Sequence[TranslationUnit], folder: Path) -> list[TranslationUnit]:
    """The same translation units; those of small models, if g++ compiles them, include a precompiled header.

    Verilator's headers take g++ longer than a small model. Where g++ cannot use the precompiled form it reads the
    header itself; Clang would fail, so it gets none.
    """
    found = []
    for unit in units:
        if unit.flags == _MODEL_FLAGS and unit.compiler.is_gcc:
            (folder / _HEADER).write_text(_HEADER_TEXT)
            compiled = folder / f"{_HEADER}.gch"
            if not compiled.exists():
                compiled.symlink_to(_precompiled(verilator, unit.compiler))
            unit = replace(unit, flags=(*unit.flags, "-include", _HEADER))
        found.append(unit)
    return found


def _precompiled(verilator: Verilator, compiler: Compiler) -> Path:
    """Verilator's headers in the form that g++ makes of them."""
    command = (*compiler.command, *_COMPILER_FLAGS, *_MODEL_FLAGS, _STANDARD, *verilator.include, "-x", "c++-header")

    def make(folder: Path, target: Path) -> None:
        (folder / _HEADER).write_text(_HEADER_TEXT)
        run([*command, _HEADER, "-o", str(target)], folder)

    return cached("headers", (verilator.version, compiler.version, _HEADER_TEXT, *command), ".gch", make)


def _includes(sources: Iterable[Path]) -> str:
    return "".join(f'#include "{path}"\n' for path in sorted(sources))


def verilate(verilator: Verilator, model: Model, folder: Path) -> Path:
    """Write the C++ of a model into a new folder in `folder`; that folder."""
    own = folder / model.top
    own.mkdir()
    source = own / f"{model.top}.v"
    source.write_text(model.verilog)
    control = own / f"{model.top}.vlt"
    control.write_text(settings(model.verilog, model.top))
    command = [str(verilator.root / "bin" / "verilator_bin"), *_VERILATOR_FLAGS, *model.options]
    command += ["--Mdir", str(own), "--top-module", model.top, "--prefix", f"V{model.top}", str(control), str(source)]
    run(command, own, environment={"VERILATOR_ROOT": str(verilator.root)})
    return own


def find_tools() -> Toolchain:
    """Verilator and the compilers; errors as of the functions below."""
    compiler = find_compiler()
    return Toolchain(find_verilator(), compiler, find_large_model_compiler(compiler))


def find_verilator() -> Verilator:
    """The installed Verilator.

    Raises
    ------
    ToolchainError
        The package is missing.
    """
    root = VERILATOR.folder
    if not (root / "bin" / "verilator_bin").exists():
        raise ToolchainError(f"{root} has no bin/verilator_bin: {installation(VERILATOR.extra)}")
    return Verilator(root, VERILATOR.version)


def find_compiler() -> Compiler:
    """The C++ compiler: ``$CXX``, else g++, else clang++.

    Raises
    ------
    ToolchainError
        There is none, or ``$CXX`` is none.
    """
    chosen = shlex.split(os.environ.get("CXX", ""))
    for command in [chosen] if chosen else [["g++"], ["clang++"]]:
        path = shutil.which(command[0])
        if path is not None:
            return Compiler((path, *command[1:]), _version(path))
    if chosen:
        raise ToolchainError(f"the C++ compiler of $CXX, {chosen[0]}, is not there")
    raise ToolchainError("no C++ compiler: install g++ (Debian: apt install g++), or name one in $CXX")


def find_large_model_compiler(compiler: Compiler) -> Compiler:
    """The compiler of large models: Clang if its package is there, else `compiler`, or if ``$CXX`` names that."""
    found = None if os.environ.get("CXX") else clang_beside(compiler.command)
    return compiler if found is None else Compiler(*found, _CLANG_FLAGS)


@cache
def _version(path: str) -> str:
    """The output of a compiler's --version."""
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
