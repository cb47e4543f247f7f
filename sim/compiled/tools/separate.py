"""Modules that are compiled, cached and linked one by one: a module that two machines share is compiled once."""

import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.cache import cached, is_cached
from ctm.sim.compiled.tools.toolchain import (
    Model,
    Toolchain,
    TranslationUnit,
    compile_units,
    find_tools,
    link,
    model_units,
    runtime_beside,
    verilate,
    write_header,
)

_KIND, _SUFFIX = "module", ".tar"
_MODEL_STANDARD = "-std=c++17"
_BORDER = "border.h"
"""The file of an archive that has the model's own header text."""


@dataclass(frozen=True)
class Separate:
    """A module that becomes a model of its own.

    `write` gives its Verilog, and C++ that follows the headers of all models; `key` identifies everything that this is
    made from. `write` must be picklable.
    """

    top: str
    key: str
    write: Callable[[], Model]


def build_separately(
    modules: Sequence[Separate], wrapper: str, *, standard: str, tell: Callable[[], None], is_here: bool = False
) -> Path:
    """The shared object of models and a C++ wrapper, which includes all their headers as ``"models.h"``.

    Models that the cache does not have are made in processes beside this one, unless `is_here`; `tell` is called
    before anything is made. `standard` is the compiler's option for the wrapper.

    Raises
    ------
    ToolchainError
        A tool is missing or failed, or the cache folder cannot be written.
    """
    tools = find_tools()

    def make(folder: Path, target: Path) -> None:
        tell()
        with runtime_beside(tools):
            models = [_unpacked(archive, folder) for archive in _archives(modules, tools, is_here=is_here)]
            write_header(folder, models, "".join((own / _BORDER).read_text() for own in models))
            unit = TranslationUnit(tools.large, "wrapper", wrapper, tools.large.large_model_flags)
            includes = (*tools.verilator.include, f"-I{folder}", *(f"-I{own}" for own in models))
            objects = compile_units([unit], folder, (standard, *includes))
            link(tools, [*objects, *(file for own in models for file in sorted(own.glob("*.o")))], target)

    return cached("model", (*(module.key for module in modules), wrapper, standard, *tools.key), ".so", make)


def _archives(modules: Sequence[Separate], tools: Toolchain, *, is_here: bool) -> list[Path]:
    """The cached archive of each module; missing ones are made in parallel."""
    missing = [module for module in modules if not is_cached(_KIND, _key(module, tools), _SUFFIX)]
    if len(missing) > 1 and not is_here:
        with Beside(_archive, missing[0]) as first:
            _archives(missing[1:], tools, is_here=False)
            first.result()
    return [_archive(module) for module in modules]


def _key(module: Separate, tools: Toolchain) -> tuple[str, ...]:
    return (module.top, module.key, *tools.key)


def _archive(module: Separate) -> Path:
    """The cached archive of a model's headers and objects, made if it is missing."""
    tools = find_tools()

    def make(folder: Path, target: Path) -> None:
        model = module.write()
        own = verilate(tools.verilator, model, folder)
        (own / _BORDER).write_text(model.header)
        options = (_MODEL_STANDARD, *tools.verilator.include, f"-I{own}")
        objects = compile_units(model_units(tools, own), folder, options)
        with tarfile.open(target, "w") as archive:
            for file in (*sorted(own.glob("*.h")), *objects):
                archive.add(file, f"{module.top}/{file.name}")

    return cached(_KIND, _key(module, tools), _SUFFIX, make)


def _unpacked(archive: Path, folder: Path) -> Path:
    """Unpack an archive into `folder`; the folder in it that has the files."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
        return folder / Path(opened.getnames()[0]).parent
