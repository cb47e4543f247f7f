"""Compiles kernels: one flow for every instruction set; what differs is in `Target`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctm.sim.compiler.clang import intermediate
from ctm.sim.compiler.error import BackEndError, BackEndLimitError, Diagnostic, KernelError, Location
from ctm.sim.compiler.fetches import Constants, KernelFetches, fetches_of
from ctm.sim.compiler.ir.module import Function, Module
from ctm.sim.compiler.legality import check, has_computed_numbers, kernels, unfit
from ctm.sim.compiler.origins import Origins, with_origins
from ctm.sim.compiler.source import Source
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.elf import Executable
from ctm.sim.elf.sources import with_sources

if TYPE_CHECKING:
    from ctm.sim.compiler.python import Translation


_NO_MERGE = "-DCTM_NO_MERGE"
"""Of ctm/core.h: calls with a number stay as the source has them. Where Clang may merge them, programs are shorter."""


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel: its name, its program, and what Clang warns of."""

    name: str
    executable: Executable
    warnings: tuple[Diagnostic, ...] = ()


def compile_kernel(
    source: Path | Source, *, isa: str = DEFAULT_TARGET, name: str | None = None, origins: Origins | None = None
) -> Kernel:
    """Compile a kernel of a source in C or Python for an instruction set; `name` says which if there are several.

    A file in Python is read and not executed; docs/kernels.md has what that means for names outside the kernel. With
    `origins` it is a program for tiles of a domain that is larger than the machine's.

    Raises
    ------
    KernelError
        It cannot be compiled; each error has its file and line.
    OSError
        The file cannot be read.
    ToolchainError
        A package is missing.
    ValueError
        There is no such instruction set.
    """
    if isinstance(source, Path):
        source = Source.read(source)
    if source.is_python:
        # Kernels in C need not wait for this import.
        from ctm.sim.compiler.python import translate_source

        kernel = compile_translation(translate_source(source, name), isa=isa, origins=origins)
    else:
        kernel = _compiled(source, isa, name, origins)
    return replace(kernel, executable=with_sources(kernel.executable, {source.name: source.text}))


def compile_translation(
    translation: "Translation", *, isa: str = DEFAULT_TARGET, origins: Origins | None = None
) -> Kernel:
    """Compile a kernel in Python; errors as `compile_kernel`, with the lines of Python and in its words.

    Files of its line table have the names that Python has for them.
    """
    from ctm.sim.compiler.python import in_words_of_python

    try:
        compiled = _compiled(translation.source, isa, translation.function, origins)
    except KernelError as error:
        # Columns, and what Clang warns of, are those of the C.
        said = (Diagnostic(each.location._replace(column=0), in_words_of_python(each.message)) for each in error.errors)
        raise KernelError(list(dict.fromkeys(said))) from None
    return Kernel(translation.name, compiled.executable)


def kernel_fetches(
    source: "Path | Source | Translation", *, isa: str, name: str | None = None, constants: Constants
) -> KernelFetches:
    """Which elements of its inputs a kernel fetches; sources and errors as `compile_kernel`."""
    if isinstance(source, Path):
        source = Source.read(source)
    if isinstance(source, Source) and source.is_python:
        from ctm.sim.compiler.python import translate_source

        source = translate_source(source, name)
    if isinstance(source, Source):
        front = next(_fronts(source, isa, name))
    else:
        front = next(_fronts(source.source, isa, source.function))
    return fetches_of(front.module, front.kernel, constants)


def _compiled(source: Source, isa: str, name: str | None, origins: Origins | None) -> Kernel:
    failure: BackEndLimitError | None = None
    for front in _fronts(source, isa, name):
        module, kernel = front.module, front.kernel
        if origins is not None:
            _check_pixel(front, isa)
            module, kernel = with_origins(module, kernel, origins)
        try:
            executable = TARGETS[isa].back_end.compile_module(module, kernel, front.location)
            return Kernel(kernel.name, executable, front.warnings)
        except BackEndLimitError as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _check_pixel(front: "_Front", isa: str) -> None:
    """Reject a pixel of integers where these are floats, and are taken to be coordinates of one machine."""
    if TARGETS[isa].whole_floats and front.is_whole:
        message = "beyond the machine's domains an R5xx kernel takes a vec2: an ivec2 is known to be below 4,096 there"
        raise KernelError([Diagnostic(front.location, message)])


@dataclass(frozen=True)
class _Front:
    """A kernel in its module, where it begins, and what Clang warns of.

    `is_fit`: LLVM could optimise it. `is_whole`: it was written with a pixel of integers.
    """

    module: Module
    kernel: Function
    location: Location
    warnings: tuple[Diagnostic, ...]
    is_fit: bool
    is_whole: bool


def _fronts(source: Source, isa: str, name: str | None) -> Iterator[_Front]:
    """A kernel as the back end's flags for Clang make it, one after the other."""
    if isa not in TARGETS:
        raise ValueError(f"kernels are compiled for {' or '.join(TARGETS)}, not for '{isa}'")
    for flags in TARGETS[isa].back_end.FRONTS:
        front = _front(source, isa, name, flags)
        if has_computed_numbers(front.kernel):
            front = _front(source, isa, name, flags, _NO_MERGE)
        if errors := _errors(front, isa):
            raise KernelError(errors)
        yield front


def _errors(front: _Front, isa: str) -> list[Diagnostic]:
    if not front.is_fit:
        return [unfit(front.module, front.kernel)]
    back_end = TARGETS[isa].back_end
    return check(front.module, front.kernel, back_end.unsupported, back_end.TABLES)


def _front(source: Source, isa: str, name: str | None, flags: Sequence[str], *defines: str) -> _Front:
    """A kernel with the back end's flags for Clang, and `defines` for the header of its functions."""
    target = TARGETS[isa]
    text, warnings = intermediate(source, [*flags, *defines, *(["-DCTM_WHOLE_FLOATS"] if target.whole_floats else [])])
    _check_absent(text, source)
    try:
        optimised, said = target.back_end.optimise(text, flags, source)
        module, is_fit, warnings = Module.read(optimised), True, [*warnings, *said]
    except BackEndError:
        module, is_fit = Module.read(text), False
    kernel = _chosen(list(kernels(module)), source, name)
    location = module.location(kernel) or Location(source.name, 1)
    if kernel.pixel is None:
        message = f"a kernel is written `kernel void {kernel.name}(vec2 pixel)`, or with an ivec2"
        raise KernelError([Diagnostic(location, message)])
    is_whole = f"@{kernel.name}(<2 x i32>" in text
    return _Front(module, kernel, location, tuple(warnings), is_fit, is_whole)


_ABSENT = (
    (
        re.compile(r"^module asm ", re.MULTILINE),
        re.compile(r"\b(__)?asm(__)?\b"),
        "assembly at the top of a file: a kernel is for several instruction sets",
    ),
    (
        re.compile(r"^@.* thread_local\b", re.MULTILINE),
        re.compile(r"\b(_Thread_local|__thread|thread_local)\b"),
        "a variable of a thread outlives the kernel: cores keep nothing from pixel to pixel",
    ),
)
"""What LLVM fails at: how IR has it, how a source has it, and what is said of it."""


def _check_absent(text: str, source: Source) -> None:
    """Reject what LLVM does not come to an end with, or that ends the process."""
    for in_ir, in_source, message in _ABSENT:
        if in_ir.search(text):
            written = in_source.search(source.text)
            line = source.text.count("\n", 0, written.start()) + 1 if written else 1
            raise KernelError([Diagnostic(Location(source.name, line), message)])


def _chosen(found: list[Function], source: Source, name: str | None) -> Function:
    there = ", ".join(function.name for function in found)
    fits = [function for function in found if name in (None, function.name)]
    if len(fits) == 1:
        return fits[0]
    if not found:
        problem = "it has no kernel: write `kernel void name(vec2 pixel) { ... }` after #include <ctm/kernel.h>"
    elif name is None:
        problem = f"it has several kernels, so one must be named: {there}"
    else:
        problem = f"it has no kernel '{name}'; there is: {there}"
    raise KernelError([Diagnostic(Location(source.name, 1), problem)])
