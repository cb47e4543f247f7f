"""How a launch is divided: its tiles, and what of each buffer they need."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.split.error import SplitError
from ctm.sim.split.planes import Plane
from ctm.sim.split.rectangle import Rectangle, tile_size, tiles


@dataclass(frozen=True)
class Reach:
    """What of an input pixel (i, j) reads: the elements from (i + i0, j + j0) to (i + i1, j + j1)."""

    i0: int
    i1: int
    j0: int
    j1: int

    def of(self, pixels: Rectangle, plane: Plane) -> Rectangle:
        """What some pixels read of a plane: coordinates outside are clamped to its edges."""
        height, width = plane.shape[:2]

        def inside(value: int, side: int) -> int:
            return min(max(value, 0), side - 1)

        return Rectangle(
            inside(pixels.j0 + self.j0, height), inside(pixels.i0 + self.i0, width),
            inside(pixels.j1 + self.j1, height), inside(pixels.i1 + self.i1, width),
        )  # fmt: skip


@dataclass(frozen=True)
class LaunchPlan:
    """The tiles of a launch, their size [columns, rows], and the reach into inputs where it is known.

    `is_local`: the machine's (0, 0) is the tile's first pixel, and the program adds the origin, which is a constant.
    """

    launch: int
    tiles: tuple[Rectangle, ...]
    size: tuple[int, int]
    reaches: Mapping[int, Reach] = field(default_factory=dict)


def domain_of(launch: Launch) -> Rectangle | None:
    """A launch's domain; None where it is empty."""
    (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
    return None if i0 > i1 or j0 > j1 else Rectangle(j0, i0, j1, i1)


def plan_launches(job: LoadedJob, count: int) -> tuple[LaunchPlan, ...]:
    """The plan of each launch of a job, in `count` tiles or as many as there can be.

    Raises
    ------
    SplitError
        Tiles would be too large.
    """
    return tuple(_plan(job, number, count) for number in range(len(job.launches)))


def _plan(job: LoadedJob, number: int, count: int) -> LaunchPlan:
    domain = domain_of(job.launches[number])
    if domain is None:
        return LaunchPlan(number, (), (1, 1))
    size = tile_size(domain, count)
    if max(size) > COORDINATE_LIMIT:
        least = -(-domain.width // COORDINATE_LIMIT) * -(-domain.height // COORDINATE_LIMIT)
        raise SplitError(
            f"--split {count}: its tiles would have {size[0]:,} x {size[1]:,} pixels, and a domain of the machine "
            f"has at most {COORDINATE_LIMIT:,} x {COORDINATE_LIMIT:,}; try --split {least}"
        )
    return LaunchPlan(number, tuple(tiles(domain, size)), size)
