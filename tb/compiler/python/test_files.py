"""Files with kernels in Python as programs of jobs and of the command line: read, and never executed."""

import re
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.assembler import disassemble
from ctm.sim.compiler import compile_kernel
from ctm.tb.cli.invocation import ctm, error_line, report
from ctm.tb.compiler.two_kernels import job

SOURCE = """import sys
from math import sqrt as root
import math as m
import ctm as machine
from ctm import kernel
from ctm.language import *
import ctm.language as words

sys.exit("this file is executed")
FACTOR: float = 2 * m.pi / m.pi


def twice(x: float):
    return x * FACTOR


@kernel
def scaled(pixel: vec2, image: Image, offset: vec4):
    value = texel(image, pixel)
    return (
        value * 2
        + offset
    )


@machine.kernel
def rooted(pixel: "ivec2", image: "Image"):
    if pixel.y > 2:
        return words.vec4(root(texel(image, pixel).x))
    return vec4(twice(root(texel(image, pixel).x)))
"""
JOB = job("k.py:scaled", "k.py:rooted", [1.0, 0.0, -1.0, 0.5]).replace('scaled"', 'scaled"\nisa = "r5xx"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.py").write_text(SOURCE)
    (tmp_path / "job.toml").write_text(JOB)
    np.save(tmp_path / "x.npy", np.arange(4 * 8 * 4, dtype=np.float32).reshape(4, 8, 4) ** 2)
    return tmp_path


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
def test_a_job_compiles_its_kernels(folder: Path, isa: str) -> None:
    (folder / "job.toml").write_text(JOB.replace("r5xx", isa))
    found = report("run", folder / "job.toml", "--engine", "golden", "--check")
    assert found["status"] == "ok", found
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    assert np.array_equal(y[:2], 2 * x[:2] + np.array([1.0, 0.0, -1.0, 0.5], np.float32))
    factors = np.array([2, 1], np.float32)[:, None, None]
    assert np.allclose(y[2:], factors * np.sqrt(x[2:, :, :1]), rtol=1e-6)


def test_errors_of_a_kernel_are_those_of_the_compiler(folder: Path) -> None:
    (folder / "k.py").write_text(SOURCE.replace("value * 2", "value * vec2(2)"))
    assert error_line("run", folder / "job.toml") == f"error: {folder}/k.py:21: vec4 * vec2\n"
    (folder / "k.py").write_text(SOURCE.replace("def rooted", "def other"))
    assert "k.py:1: it has no kernel 'rooted'; there is: scaled, other" in error_line("run", folder / "job.toml")
    (folder / "job.toml").write_text(JOB.replace('"y.npy"', '"k.py"'))
    assert "k.py" in error_line("run", folder / "job.toml")
    assert not (folder / "y.npy").exists()


def test_the_command_line_compiles_and_lists_lines(folder: Path) -> None:
    target = folder / "k.elf"
    for named in (["k.py:scaled"], ["k.py", "--kernel", "scaled"]):
        name, *options = named
        assert ctm("cc", folder / name, "-o", target, *options).exit_code == 0
        text = ctm("disasm", target).stdout
        assert re.search(r"SAMPLE.*; \d+ +k\.py:19\n", text)
        target.unlink()
    assert "one of its kernels must be named: scaled, rooted" in error_line("cc", folder / "k.py", "-o", target)
    message = error_line("cc", folder / "k.py:scaled", "--kernel", "rooted", "-o", target)
    assert "names a kernel too" in message
    (folder / "k.py").write_bytes(b"\xff\n")
    assert "k.py:1: it is not UTF-8 text" in error_line("cc", folder / "k.py:scaled", "-o", target)
    assert "would replace its source" in error_line("cc", folder / "k.py:scaled", "-o", folder / "k.py")
    assert not target.exists()


def test_instructions_have_lines_of_python(folder: Path) -> None:
    """What is computed for both of two branches has that of one of them."""
    for isa, name, least, most in (
        ("r5xx", "rooted", {14, 28, 29}, {14, 27, 28, 29, 30}),
        ("r700", "rooted", {28}, {14, 27, 28, 29, 30}),
        ("r700", "scaled", {19, 20}, set(range(18, 24))),
    ):
        executable = compile_kernel(folder / "k.py", isa=isa, name=name).executable
        lines = {int(line) for line in re.findall(r"k\.py:(\d+)", disassemble(executable))}
        assert least <= lines <= most, (isa, name)
