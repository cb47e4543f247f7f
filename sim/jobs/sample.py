"""Tiles of a large job's domain that the golden model can run by themselves, to compare them with a run of all."""

from dataclasses import dataclass, replace

import numpy as np

from ctm.sim.jobs.execution import Run, pixels
from ctm.sim.jobs.loading import Launch, LoadedJob

_LARGE = 1 << 18
"""Pixels of a domain of which a sample is enough."""
_TILES, _SIDE = 48, 32


@dataclass(frozen=True)
class Sample:
    """The job with its domain cut down to tiles."""

    job: LoadedJob

    @property
    def pixels(self) -> int:
        """How many it has."""
        return pixels(self.job)

    def of(self, run: Run) -> Run:
        """A run of the whole job, with zeros for all elements but those of the sample."""
        return replace(run, outputs={key: self._masked(array) for key, array in run.outputs.items()})

    def _masked(self, array: np.ndarray) -> np.ndarray:
        result = np.zeros_like(array)
        for launch in self.job.launches:
            (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
            area = slice(j0, j1 + 1), slice(i0, i1 + 1)
            result[area] = array[area]
        return result


def sample(job: LoadedJob) -> Sample | None:
    """A sample of a job's domain: its corners, and tiles anywhere; None where all of it has to run.

    It has where it is not large, where launches build on others, and where pixels write other elements than their
    own, or change what others of them read.
    """
    launch, *others = job.launches
    section = launch.section
    executable = launch.program.executable
    writes_elsewhere = executable.uncached_writes or executable.sees_wavefront_size
    tests = job.job.conditional is not None
    if others or section.repeat > 1 or section.swap or writes_elsewhere or tests or pixels(job) < _LARGE:
        return None
    (i0, i1), (j0, j1) = section.domain_i, section.domain_j
    random = np.random.default_rng([i0, i1, j0, j1])
    columns, rows = _ranges(i0, i1), _ranges(j0, j1)
    ends = [(column, row) for column in (columns[0], columns[-1]) for row in (rows[0], rows[-1])]
    tiles = [divmod(int(tile), len(rows)) for tile in random.permutation(len(columns) * len(rows))]
    inner = [(columns[column], rows[row]) for column, row in tiles[:_TILES]]
    return Sample(replace(job, launches=tuple(_tile(launch, *tile) for tile in dict.fromkeys(ends + inner))))


def _ranges(first: int, last: int) -> list[tuple[int, int]]:
    """A side of the domain in ranges, first and last index of each.

    Wavefronts begin at an even index and are no wider than a range, so that they are whole as in a run of all:
    uncovered pixels may give others of their wavefront something else.
    """
    starts = range(first & ~1, last + 1, _SIDE)
    return [(max(first, start), min(start + _SIDE - 1, last)) for start in starts]


def _tile(launch: Launch, domain_i: tuple[int, int], domain_j: tuple[int, int]) -> Launch:
    section = launch.section.model_copy(update={"domain_i": domain_i, "domain_j": domain_j})
    return replace(launch, section=section)
