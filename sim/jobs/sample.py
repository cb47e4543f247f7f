"""Parts of a large job's domain that the golden model can run by themselves, to compare them with a run of all."""

from dataclasses import dataclass, replace

import numpy as np

from ctm.sim.jobs.execution import Run, processors
from ctm.sim.jobs.loading import Launch, LoadedJob

_LARGE = 1 << 18
"""Processors of a domain of which a sample is enough."""
_TILES, _SIDE = 48, 32


@dataclass(frozen=True)
class Sample:
    """The job with its domain cut down to tiles."""

    job: LoadedJob

    @property
    def processors(self) -> int:
        """How many it has."""
        return processors(self.job)

    def of(self, run: Run) -> Run:
        """A run of the whole job, with zeros for all elements but those of the sample."""
        return replace(run, outputs={key: self._masked(array) for key, array in run.outputs.items()})

    def _masked(self, array: np.ndarray) -> np.ndarray:
        result = np.zeros_like(array)
        for launch in self.job.launches:
            (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
            place = slice(j0, j1 + 1), slice(i0, i1 + 1)
            result[place] = array[place]
        return result


def sample(job: LoadedJob) -> Sample | None:
    """A sample of a job's domain: its corners, and tiles anywhere; None where all of it has to run.

    It has where it is not large, where launches build on others, and where processors write other elements than their
    own, or change what others of them read.
    """
    launch, *others = job.launches
    section = launch.section
    executable = launch.program.executable
    writes_elsewhere = executable.uncached_writes or executable.sees_group_size
    tests = job.job.conditional is not None
    if others or section.repeat > 1 or section.swap or writes_elsewhere or tests or processors(job) < _LARGE:
        return None
    (i0, i1), (j0, j1) = section.domain_i, section.domain_j
    random = np.random.default_rng([i0, i1, j0, j1])
    last_i, last_j = max(i0, i1 - _SIDE + 1), max(j0, j1 - _SIDE + 1)
    places = [(i0, j0), (last_i, j0), (i0, last_j), (last_i, last_j)]
    places += [(int(random.integers(i0, last_i + 1)), int(random.integers(j0, last_j + 1))) for _ in range(_TILES)]
    tiles = tuple(_tile(launch, i, min(i + _SIDE - 1, i1), j, min(j + _SIDE - 1, j1)) for i, j in places)
    return Sample(replace(job, launches=tiles))


def _tile(launch: Launch, i0: int, i1: int, j0: int, j1: int) -> Launch:
    section = launch.section.model_copy(update={"domain_i": (i0, i1), "domain_j": (j0, j1)})
    return replace(launch, section=section)
