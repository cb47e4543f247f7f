"""Jobs of examples for measuring compiled kernels: smaller, and for either instruction set."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ctm.examples.catalogue import FOLDER
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.compiler import compile_kernel
from ctm.sim.elf import write
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import load_job

WATCHDOG = 1 << 24
_ONE_STEP = {"repeat = 16\nswap = [[0, 0], [1, 1]]\n": ""}
_ONE_BLUR = {
    "domain_i = [2, 252]\ndomain_j = [2, 252]\nrepeat = 8\nswap = [[0, 0]]": "domain_i = [2, 65]\ndomain_j = [2, 65]"
}
_POINTS = {"[5e-05, 5e-05,": "[2e-04, 2e-04,"}


@dataclass(frozen=True, kw_only=True)
class KernelJob:
    """An example for an instruction set; `changes` are made in the text of its jobs."""

    example: str
    isa: str
    changes: Mapping[str, str]


JOBS = {
    "blackscholes": KernelJob(example="blackscholes", isa="r5xx", changes={}),
    "matmul": KernelJob(
        example="r700/matmul", isa="r5xx", changes={"[0, 31]": "[0, 15]", "shape = [32, 32]": "shape = [16, 16]"}
    ),
    "mandelbrot": KernelJob(
        example="mandelbrot",
        isa="r5xx",
        changes={"i = [0, 255]\nj = [0, 255]": "i = [0, 63]\nj = [0, 15]", "[256, 256]": "[16, 64]"},
    ),
    "nbody": KernelJob(example="nbody", isa="r5xx", changes=_ONE_STEP),
    "blur": KernelJob(example="blur", isa="r5xx", changes=_ONE_BLUR),
    "r700/mandelbrot": KernelJob(
        example="r700/mandelbrot",
        isa="r700",
        changes={"[0, 255]": "[0, 63]", "[256, 256]": "[64, 64]", **_POINTS},
    ),
    "r700/matmul": KernelJob(example="r700/matmul", isa="r700", changes={}),
    "r700/sha256": KernelJob(example="r700/sha256", isa="r700", changes={}),
}
"""By the names of hand-written programs for the same work."""


def run(name: str, language: str, folder: Path, engine: str) -> Run:
    """Run a job of `JOBS` with its kernel in "c" or "py", or with the program written by hand, "s".

    `folder` is where the job is put, with the example's arrays.
    """
    job = JOBS[name]
    source = name if language == "s" else job.example
    stem = Path(source).name
    shutil.copytree(FOLDER / source, folder, dirs_exist_ok=True)
    path = folder / (f"{stem}.toml" if language == "s" else f"{stem}_{language}.toml")
    text = path.read_text()
    for old, new in job.changes.items():
        assert old in text, old
        text = text.replace(old, new)
    if language != "s":
        compiled = compile_kernel(folder / f"{stem}.{language}", isa=job.isa)
        (folder / "kernel.elf").write_bytes(write(compiled.executable))
        text = text.replace(f'"{stem}.{language}"', '"kernel.elf"').replace(f'isa = "{job.isa}"\n', "")
    path.write_text(text)
    config = PRESETS[DEFAULT_PRESETS[job.isa]]
    return Execution(load_job(path), engine=engine, config=config, watchdog=WATCHDOG).run()
