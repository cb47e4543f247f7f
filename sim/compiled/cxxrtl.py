"""From Amaranth components and C++ to a shared object, by Yosys's CXXRTL and a C++ compiler, in the same cache.

Yosys makes one module of all that occurs only once, so that everything can be computed in one order and once in each
cycle. Before that equal modules are merged (`repeated`), then loops between words opened (`loops`), and what comes out
is divided into functions and files of limited size (`divided`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.rewriting.divided import Model, UnexpectedTextError, divide
from ctm.sim.compiled.rewriting.loops import LoopThroughModuleError, open_loops
from ctm.sim.compiled.rewriting.repeated import KEPT, merge
from ctm.sim.compiled.tools.cache import cached
from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.programs import run
from ctm.sim.compiled.tools.toolchain import Part, compile_parts, find_compiler, find_large_model_compiler
from ctm.sim.compiled.tools.yosys import yosys

_BUILD = "1"
"""To be changed with what this module does beyond the flags below."""
_RUNTIME = "share/include/backends/cxxrtl/runtime"
# Clang gives four times the speed of g++ in half the time, with -O1 as with -O2. What g++ needs most is that loops over
# the words of a value disappear: twice the speed, half as much time again.
_GCC_FLAGS = ("-O2", "-fpeel-loops")
_START_FLAGS = ("-O0",)
_STANDARD = "-std=c++20"
_PARTS = 2
_SIMPLIFY = ("proc", "opt_expr", "opt_merge", "opt_muxtree", "opt_reduce", "opt_expr", "opt_clean -purge")
_FLATTEN = ("flatten -noscopeinfo", "hierarchy -top {top}", "opt_clean -purge")
_RTLIL = "write_rtlil out.il"
# As far as CXXRTL is concerned each module is a top: it then gives what follows from its inputs without a delay.
_WRITE = "write_cxxrtl -g0 -nohierarchy -noflatten -noproc model.cc"


def build(design: Callable[[], str], host: str, *, top: str, key: str) -> Path:
    """The shared object of a model and of C++ around it; in front of the latter stands the model's header.

    The model is a class `cxxrtl_design::p_<top>`, see `divided.divide`. `design` gives the RTLIL and is called only if
    the cache has nothing under `key`, which must stand for all that the RTLIL is made from.

    Raises
    ------
    ToolchainError
        A tool is missing or failed, or the cache folder cannot be written.
    """
    runtime, linker = YOSYS.folder / _RUNTIME, find_compiler()
    compiler = find_large_model_compiler(linker)
    flags = _GCC_FLAGS if compiler is linker else compiler.large_model_flags
    made_from = (_BUILD, key, host, top, *linker.command, linker.version, *compiler.command, compiler.version,
             *flags, *_START_FLAGS, YOSYS.version, *_sources())  # fmt: skip

    def make(folder: Path, target: Path) -> None:
        model = _translate(folder, design(), top)
        (folder / "model.h").write_text(model.header)
        include = '#include "model.h"\n'
        texts = {f"part_{number}": text for number, text in enumerate(_shares(model.functions))} | {"host": host}
        parts = [Part(compiler, name, include + text, flags) for name, text in texts.items()]
        parts.append(Part(linker, "start", include + model.start, _START_FLAGS))
        objects = compile_parts(parts, folder, (_STANDARD, f"-I{runtime}", f"-I{folder}"))
        run([*linker.command, "-shared", *map(str, objects), "-o", str(target)], folder)

    return cached("cxxrtl", made_from, ".so", make)


def _sources() -> Iterator[str]:
    """What makes C++ of RTLIL."""
    own = Path(__file__)
    yield own.read_text()
    for name in ("rewriting/divided", "rewriting/loops", "rewriting/repeated", "rewriting/rtlil", "tools/yosys"):
        yield (own.parent / f"{name}.py").read_text()


def _translate(folder: Path, design: str, top: str) -> Model:
    """CXXRTL's C++ for a design."""
    text = yosys(folder, merge(design, top), f"hierarchy -top {top}", *_SIMPLIFY, _RTLIL, result="out.il")
    while True:
        text = yosys(folder, text, *(command.format(top=top) for command in _FLATTEN), _RTLIL, result="out.il")
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
    tops = re.sub(r"^(?=module )", "attribute \\\\top 1\n", text, flags=re.MULTILINE)
    try:
        return divide(yosys(folder, tops, _WRITE, result="model.cc"))
    except UnexpectedTextError as error:
        raise ToolchainError(f"CXXRTL: {error}") from None


def _shares(functions: Sequence[str]) -> list[str]:
    """Functions as texts of about the same size."""
    ends = list(accumulate(map(len, functions)))
    shares = [""] * _PARTS
    for function, end in zip(functions, ends, strict=True):
        shares[(end - 1) * _PARTS // ends[-1]] += function
    return shares
