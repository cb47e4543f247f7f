"""Jobs for split runs, and what one run of them gives."""

from pathlib import Path
from typing import Any

import numpy as np

from ctm.examples.catalogue import FOLDER
from ctm.tb.cli.invocation import report

Array = np.ndarray[Any, Any]


def mandelbrot_in(folder: Path, side: int, output: str = "steps.npy", program: str = "mandelbrot.s") -> Path:
    """A Mandelbrot set of side x side pixels, 64 steps at most in assembler and 255 as a kernel."""
    path = folder / "mandelbrot.toml"
    path.write_text(f"""
[program]
file = "{FOLDER / "mandelbrot" / program}"
[domain]
i = [0, {side - 1}]
j = [0, {side - 1}]
[[outputs]]
index = 0
file = "{output}"
shape = [{side}, {side}]
format = "FLOAT32_1"
[constants]
float = {{0 = [{3 / side}, {3 / side}, -2.0, -1.5]}}
int = {{0 = [64, 0, 0]}}
""")
    return path


def blur_in(
    folder: Path, height: int, width: int, *, program: str = "blur.c", file: str = "picture.npy", isa: str = "r5xx"
) -> Path:
    """A blur whose fetches leave the picture at its borders; the picture is random."""
    picture = np.random.default_rng([height, width]).random((height, width), np.float32)
    np.save(folder / "picture.npy", picture)
    path = folder / "blur.toml"
    path.write_text(f"""
[program]
file = "{FOLDER / "blur" / program}"
isa = "{isa}"
[domain]
i = [0, {width - 1}]
j = [0, {height - 1}]
[[inputs]]
index = 0
file = "{file}"
format = "FLOAT32_1"
[[outputs]]
index = 0
file = "blurred.npy"
shape = [{height}, {width}]
format = "FLOAT32_1"
""")
    return path


def outputs_of(folder: Path) -> dict[str, bytes]:
    """The contents of all files in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run_both(path: Path, folder: Path, count: int, *options: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reports of one run of a job and of a split one in this process, which leave the same files."""
    one = report("run", path, "-o", folder / "one", *options)
    split = report("run", path, "-o", folder / "split", "--split", count, "--workers", 0, *options)
    assert one["status"] == split["status"] == "ok", (one["error"], split["error"])
    assert outputs_of(folder / "one") == outputs_of(folder / "split")
    return one, split
