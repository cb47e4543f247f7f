"""The Mandelbrot example on a finer grid: what a compiled program does while one looks."""

from dataclasses import replace

import numpy as np

from ctm.examples.expectation import Expectation
from ctm.examples.mandelbrot import reference
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime import Layout

FACTOR = 4
SIDE = FACTOR * reference.WIDTH
STEP = reference.STEP / FACTOR


def enlarged(job: LoadedJob) -> LoadedJob:
    """The job with FACTOR times as many points in both directions."""
    (launch,), ((section, layout, _),) = job.launches, job.outputs
    numbers = np.array([STEP, STEP, reference.LEFT, reference.BOTTOM], np.float32)
    floats = {0: tuple(int(word) for word in numbers.view(np.uint32))}
    side = (0, SIDE - 1)
    larger = replace(
        launch,
        section=launch.section.model_copy(update={"domain_i": side, "domain_j": side}),
        constants=ConstantFiles(floats=floats, ints=launch.constants.ints),
    )
    grid = Layout(width=SIDE, height=SIDE, format=layout.format, tiling=layout.tiling)
    return replace(job, launches=(larger,), outputs=((section, grid, np.zeros((SIDE, SIDE, 1), np.float32)),))


def expected() -> dict[str, Expectation]:
    """Its output, by numpy."""
    steps = reference.steps(SIDE, SIDE, STEP, reference.LEFT, reference.BOTTOM, reference.LIMIT)
    return {"steps.npy": Expectation(steps)}
