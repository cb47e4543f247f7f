"""Kernels as programs of jobs."""

from pathlib import Path

import numpy as np
import pytest

from ctm.tb.cli.invocation import ctm, error_line, report
from ctm.tb.compiler.two_kernels import job

SOURCE = """#include <ctm/kernel.h>
kernel void twice(vec2 pixel) { output(0, 2 * texel(0, pixel)); }
kernel void inverse(ivec2 pixel) { output(0, constant(0).x - texel(0, pixel)); }
"""
JOB = job("k.c:twice", "k.c:inverse", [1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.c").write_text(SOURCE)
    (tmp_path / "job.toml").write_text(JOB)
    np.save(tmp_path / "x.npy", np.arange(4 * 8 * 4, dtype=np.float32).reshape(4, 8, 4))
    return tmp_path


@pytest.mark.parametrize("engine", ["golden", "fast"])
def test_a_job_compiles_its_kernels(folder: Path, engine: str) -> None:
    found = report("run", folder / "job.toml", "--engine", engine, "--check")
    assert found["status"] == "ok", found
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    assert np.array_equal(y[:2], 2 * x[:2])
    assert np.array_equal(y[2:], 1 - x[2:])


def test_errors_of_a_kernel_are_those_of_the_compiler(folder: Path) -> None:
    (folder / "k.c").write_text(SOURCE.replace("constant(0)", "constant(300)"))
    assert error_line("run", folder / "job.toml") == (
        f"error: {folder}/k.c:3:46: the number of a constant is 300, not 0..255\n"
    )
    (folder / "k.c").write_text(SOURCE.replace("inverse", "other"))
    assert "it has no kernel 'inverse'; there is: twice, other" in error_line("run", folder / "job.toml")
    (folder / "job.toml").write_text(JOB.replace("k.c:twice", "k.c"))
    assert "it has several kernels, so one must be named: twice, other" in error_line("run", folder / "job.toml")
    assert not (folder / "y.npy").exists()


def test_warnings_of_a_kernel_are_told(folder: Path) -> None:
    (folder / "k.c").write_text(SOURCE.replace("{ output", "{ if (pixel.x = 1) return; output", 1))
    result = ctm("run", folder / "job.toml")
    assert result.exit_code == 0
    assert "k.c:2:45: using the result of an assignment as a condition" in result.stderr


def test_a_jobs_keys_are_checked(folder: Path) -> None:
    (folder / "job.toml").write_text(JOB.replace('file = "k.c:twice"', 'file = "k.c:twice"\nisa = "r600"'))
    assert "job.toml:3: program.isa: must be r5xx or r700" in error_line("run", folder / "job.toml")
    (folder / "job.toml").write_text(JOB.replace("k.c:twice", "none.c"))
    assert "there is no file" in error_line("run", folder / "job.toml")
    (folder / "job.toml").write_text(JOB.replace('"y.npy"', '"k.c"'))
    message = error_line("run", folder / "job.toml")
    assert "k.c" in message
    assert (folder / "k.c").read_text() == SOURCE
