"""A job in tiles gives the bits of one run, and counts what that counts."""

from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import job
from ctm.tb.cli.invocation import ctm, report
from ctm.tb.lib.machines import options
from ctm.tb.split.jobs import blur_in, mandelbrot_in, run_both

EXAMPLES = (
    "saxpy", "blur", "r700/matmul",
    *(pytest.param(name, marks=pytest.mark.long)
      for name in ("nbody", "bitonic", "blackscholes", "r700/mandelbrot", "r700/bitonic", "r700/sha256")),
)  # fmt: skip
"""Formats and tilings, passes that exchange buffers, both instruction sets, fetches from whole inputs."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_the_same_in_tiles(name: str, tmp_path: Path) -> None:
    one, split = run_both(job(name), tmp_path, 5, "--engine", "fast")
    assert len(split["tiles"]) > 1
    for key in ("instructions", "lane_instructions", "counters", "engine", "programs"):
        assert split[key] == one[key], key


@pytest.mark.parametrize("engine", ["golden", "rtl", pytest.param("auto", marks=pytest.mark.long)])
def test_every_engine_has_tiles(engine: str, tmp_path: Path) -> None:
    path = blur_in(tmp_path, 38, 70)
    one, split = run_both(path, tmp_path, 4, "--engine", engine, *options("r5xx"))
    tiles = split["tiles"]
    assert len(tiles) == 4 and sum(tile["instructions"] for tile in tiles) == one["instructions"]
    assert split["lane_instructions"] == one["lane_instructions"]
    if engine == "rtl":
        assert split["cycles"] == sum(tile["cycles"] for tile in tiles)
        assert split["counters"]["issued_alu"] == one["counters"]["issued_alu"]
    else:
        assert split["cycles"] is None


@pytest.mark.long
def test_a_blur_with_borders_is_the_same_on_hardware(tmp_path: Path) -> None:
    _, split = run_both(blur_in(tmp_path, 128, 128), tmp_path, 16, "--engine", "rtl")
    assert len(split["tiles"]) == 16


@pytest.mark.parametrize("outputs", ['initial = "before.npy"', "fill = 3.5", ""])
def test_what_a_domain_leaves_keeps_what_it_held(outputs: str, tmp_path: Path) -> None:
    """A domain inside of an output, and one that ends beyond it."""
    np.save(tmp_path / "before.npy", np.random.default_rng(1).random((50, 70, 1), np.float32))
    text = mandelbrot_in(tmp_path, 70).read_text()
    text = text.replace("shape = [70, 70]", f"shape = [50, 70]\n{outputs}")
    path = tmp_path / "split.toml"
    for domain in ("i = [5, 60]\nj = [3, 33]", "i = [1, 99]\nj = [7, 90]"):
        path.write_text(text.replace("i = [0, 69]\nj = [0, 69]", domain))
        run_both(path, tmp_path, 6, "--engine", "fast")


def test_an_empty_domain_has_no_tiles(tmp_path: Path) -> None:
    path = mandelbrot_in(tmp_path, 40)
    path.write_text(path.read_text().replace("i = [0, 39]", "i = [9, 3]"))
    _, split = run_both(path, tmp_path, 6)
    assert split["tiles"] == [] and split["cycles"] is None


def test_outputs_may_be_pictures_and_streams(tmp_path: Path) -> None:
    path = mandelbrot_in(tmp_path, 64, "steps.png")
    path.write_text(path.read_text().replace("FLOAT32_1", "UINT16_1"))
    run_both(path, tmp_path, 3, "--engine", "fast")
    path = mandelbrot_in(tmp_path, 64, "/dev/null")
    assert ctm("run", path, "--split", 2, "--workers", 0).exit_code == 0


def test_a_program_that_fails_names_its_pixel_and_leaves_nothing(tmp_path: Path) -> None:
    path = mandelbrot_in(tmp_path, 64)
    found = report("run", path, "-o", tmp_path / "out", "--split", 4, "--workers", 0, "--watchdog", 100)
    assert found["status"] == "watchdog" and found["error"]["i"] is not None
    assert list((tmp_path / "out").iterdir()) == []
