"""A mistake in a kernel is in the slice of a pixel that it makes wrong."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim.debug.why import why
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.tb.debug.jobs import config_of, session_of

MISTAKES = (
    ("blackscholes/blackscholes_c", "blackscholes.c", "0.2316419f", "0.2416419f"),
    ("blackscholes/blackscholes_c", "blackscholes.c", "d < 0 ?", "d > 0 ?"),
    ("blackscholes/blackscholes_c", "blackscholes.c", "exp(-rate", "exp(rate"),
    ("blackscholes/blackscholes_c", "blackscholes.c", "normal(-d2)", "normal(d2)"),
    ("blur/blur_c", "blur.c", "weight(abs(j)) *", "weight(abs(i)) *"),
    ("blur/blur_c", "blur.c", "vec2(i, j)", "vec2(j, j)"),
    ("nbody/nbody_c", "nbody.c", "velocity * step, me.w", "velocity, me.w"),
    ("blackscholes/blackscholes_py", "blackscholes.py", "1.781477937", "1.791477937"),
    ("blackscholes/blackscholes_py", "blackscholes.py", "d1 - deviation", "d1 + deviation"),
    ("blackscholes/blackscholes_py", "blackscholes.py", "1 - tail(d)", "2 - tail(d)"),
    ("blur/blur_py", "blur.py", "WEIGHTS[i] *", "WEIGHTS[j] *"),
    ("blur/blur_py", "blur.py", "j - 2)", "j - 1)"),
    ("nbody/nbody_py", "nbody.py", "me.xyz + velocity * step, me.w", "me.xyz + velocity, me.w"),
    ("mandelbrot/mandelbrot_py", "mandelbrot.py", "y * y - 4", "y * y - 3"),
    (
        "blackscholes/blackscholes",
        "blackscholes.s",
        "ALU gauss.rg = MUL(gauss, -c0.b)",
        "ALU gauss.rg = MUL(gauss, -c0.g)",
    ),
    ("blackscholes/blackscholes", "blackscholes.s", "(1 - tail), tail, d", "tail, (1 - tail), d"),
    ("blackscholes/blackscholes", "blackscholes.s", "MAD(k, tail, c1.b)", "MAD(k, tail, c1.g)"),
    ("r700/mandelbrot/mandelbrot", "mandelbrot.s", "MULADD_IEEE R2.y, R0.y", "MULADD_IEEE R2.y, R0.x"),
    ("r700/mandelbrot/mandelbrot", "mandelbrot.s", "MOV R1.w, -1", "MOV R1.w, 1"),
    ("r700/saxpy/saxpy", "saxpy.s", "R1.z, C0.x, R2.z", "R1.z, C0.x, R2.w"),
)
"""An example's job, the file of its kernel, what is right, and what is planted where it occurs first."""


_LONG = ("nbody.c", "nbody.py")
"""Kernels whose pixels take thousands of instructions."""


def _marked(mistake: tuple[str, str, str, str]) -> object:
    is_sample = MISTAKES.index(mistake) % 2 == 0 and mistake[1] not in _LONG
    return mistake if is_sample else pytest.param(mistake, marks=pytest.mark.long)


def smaller(text: str) -> str:
    """A job's text with one launch, over few rows."""
    rows = []
    for row in text.splitlines():
        key, _, value = row.partition("=")
        if key.strip() in ("j", "domain_j"):
            first, last = (int(bound) for bound in value.strip(" []").split(","))
            row = f"{key}= [{first}, {min(last, first + 3)}]"
        rows.append("" if key.strip() in ("repeat", "swap") else row)
    return "\n".join(rows)


def outputs(job: LoadedJob) -> dict[int | str, np.ndarray]:
    return Execution(job, engine="golden", config=config_of(job), watchdog=0).run().outputs


def planted(job: str, file: str, right: str, wrong: str, folder: Path) -> tuple[LoadedJob, LoadedJob, int]:
    """The job as it is and with the mistake, and the line that has it."""
    path = Path(job)
    jobs = []
    for name in ("right", "wrong"):
        copy = shutil.copytree(FOLDER / path.parent, folder / name)
        description = copy / f"{path.name}.toml"
        description.write_text(smaller(description.read_text()))
        if name == "wrong":
            before, found, after = (copy / file).read_text().partition(right)
            assert found
            (copy / file).write_text(before + wrong + after)
        jobs.append(load_job(description))
    return jobs[0], jobs[1], before.count("\n") + 1


@pytest.mark.parametrize(
    "mistake", [_marked(mistake) for mistake in MISTAKES], ids=lambda mistake: f"{mistake[1]}-{mistake[3]}"
)
def test_the_slice_of_a_wrong_pixel_has_the_mistake(mistake: tuple[str, str, str, str], tmp_path: Path) -> None:
    right, wrong, line = planted(*mistake, tmp_path)
    expected, found = outputs(right), outputs(wrong)
    output = next(number for number in expected if not np.array_equal(expected[number], found[number], equal_nan=True))
    differs = expected[output] != found[output]
    j, i, *_ = np.argwhere(differs)[0]
    with session_of(wrong) as session:
        explanation = why(session, f"o{output}[{i},{j}]")
    assert (mistake[1], line) in explanation.lines
