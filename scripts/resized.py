"""The Mandelbrot examples on a finer or a coarser grid: as many points as an engine computes while one looks."""

from dataclasses import replace
from types import ModuleType

import numpy as np

from ctm.examples.expectation import Expectation
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime import Layout


def resized(job: LoadedJob, reference: ModuleType, side: int) -> LoadedJob:
    """The job over the same rectangle of the plane, with `side` points in both directions."""
    (launch,), ((section, layout, _),) = job.launches, job.outputs
    step = _step(reference, side)
    numbers = np.array([step, step, reference.LEFT, reference.BOTTOM], np.float32)
    floats = {0: tuple(int(word) for word in numbers.view(np.uint32))}
    interval = (0, side - 1)
    changed = replace(
        launch,
        section=launch.section.model_copy(update={"domain_i": interval, "domain_j": interval}),
        constants=ConstantFiles(floats=floats, ints=launch.constants.ints),
    )
    grid = Layout(width=side, height=side, format=layout.format, tiling=layout.tiling)
    return replace(job, launches=(changed,), outputs=((section, grid, np.zeros((side, side, 1), np.float32)),))


def expected(reference: ModuleType, side: int) -> dict[str, Expectation]:
    """Its output, by numpy."""
    steps = reference.steps(side, side, _step(reference, side), reference.LEFT, reference.BOTTOM, reference.LIMIT)
    return {"steps.npy": Expectation(steps)}


def _step(reference: ModuleType, side: int) -> float:
    step: float = reference.STEP * reference.WIDTH / side
    return step
