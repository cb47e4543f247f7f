"""How a job is divided: the tiles of each launch, and what of each input they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ctm.rtl.isa.limits import COORDINATE_LIMIT, FLOAT_CONSTANTS
from ctm.sim.compiler import compile_kernel, compile_translation, kernel_fetches
from ctm.sim.compiler.fetches import Fetch, KernelFetches
from ctm.sim.compiler.origins import Origins
from ctm.sim.compiler.ranges import Coordinate, elements
from ctm.sim.compiler.source import SUFFIXES
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.jobs.program_file import ProgramFile, program_of
from ctm.sim.split.error import SplitError
from ctm.sim.split.planes import Plane
from ctm.sim.split.rectangle import COLUMNS, Rectangle, tile_size, tiles

if TYPE_CHECKING:
    from ctm.sim.compiler.python import Translation

Words = tuple[int, int, int, int]
_BORDERS = 16
"""Widths of a border, in columns of wavefronts, that tiles are made smaller by one after the other."""


@dataclass(frozen=True, kw_only=True)
class TranslatedProgram(ProgramFile):
    """The program of a kernel that lives in this process, with its source in C."""

    translation: "Translation"


@dataclass(frozen=True, kw_only=True)
class LaunchPlan:
    """The tiles of a launch, their size [columns, rows], and how a kernel looks its inputs up.

    With `origins` the machine's (0, 0) is the first pixel of a tile, and the program adds the origin; `whole_pixel`
    says whether that is of integers.
    """

    launch: int
    tiles: tuple[Rectangle, ...]
    size: tuple[int, int]
    fetches: Mapping[int, Sequence[Fetch]] = field(default_factory=dict)
    origins: Origins | None = None
    whole_pixel: bool = False

    def window(self, index: int, plane: Plane, pixels: Rectangle) -> Rectangle:
        """What pixels, and the uncovered ones of their wavefronts, read of an input: all of it if that is not known."""
        height, width = plane.shape[:2]
        if self.origins is not None and index not in self.origins.inputs:
            return Rectangle(0, 0, height - 1, width - 1)
        return window_of(self.fetches.get(index, ()), plane, pixels)

    def origin_of(self, pixels: Rectangle) -> tuple[int, int]:
        """The pixel that the machine's (0, 0) is for a tile; even, because quads are."""
        return (0, 0) if self.origins is None else (pixels.i0 & ~1, pixels.j0 & ~1)

    def constants(self, pixels: Rectangle, windows: Mapping[int, Rectangle]) -> dict[int, Words]:
        """The origins of a tile and of its inputs, as float constants by index."""
        if self.origins is None:
            return {}
        kind = np.int32 if self.whole_pixel else np.float32
        found = {self.origins.pixel: _words(np.array(self.origin_of(pixels), kind))}
        for index, number in self.origins.inputs.items():
            found[number] = _words(np.array((windows[index].i0, windows[index].j0), np.float32))
        return found


def plan_launches(job: LoadedJob, count: int) -> tuple[LoadedJob, tuple[LaunchPlan, ...]]:
    """A job whose launches can be run in `count` tiles, or as many as there can be, and their plans.

    Launches beyond the machine's domains have other programs, which begin at origins.

    Raises
    ------
    SplitError
        A launch goes beyond the machine's domains or buffers, and its program cannot.
    KernelError
        A kernel cannot be compiled so.
    """
    planned = [_planned(job, number, count) for number in range(len(job.launches))]
    return replace(job, launches=tuple(launch for launch, _ in planned)), tuple(plan for _, plan in planned)


def window_of(fetches: Sequence[Fetch], plane: Plane, pixels: Rectangle) -> Rectangle:
    """The rectangle of a plane that fetches read; coordinates outside are clamped to its edges."""
    height, width = plane.shape[:2]
    around = pixels.wavefronts()
    i0, i1 = _ends([fetch.x for fetch in fetches], around, width)
    j0, j1 = _ends([fetch.y for fetch in fetches], around, height)
    return Rectangle(j0, i0, j1, i1)


def _ends(coordinates: Sequence[Coordinate | None], pixels: Rectangle, side: int) -> tuple[int, int]:
    known = [each for each in coordinates if each is not None]
    if not known or None in coordinates:
        return 0, side - 1
    ends = [elements(each, (pixels.i0, pixels.i1), (pixels.j0, pixels.j1)) for each in known]
    first, last = min(end for end, _ in ends), max(end for _, end in ends)
    return min(max(first, 0), side - 1), min(max(last, 0), side - 1)


def _words(origin: np.ndarray) -> Words:
    x, y = (int(word) for word in origin.view(np.uint32))
    return x, y, 0, 0


def _planned(job: LoadedJob, number: int, count: int) -> tuple[Launch, LaunchPlan]:
    launch = job.launches[number]
    (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
    if i0 > i1 or j0 > j1:
        return launch, LaunchPlan(launch=number, tiles=(), size=(1, 1))
    domain = Rectangle(j0, i0, j1, i1)
    planes = {section.index: plane for section, _, plane in job.inputs}
    reading = _reading(launch) if planes else None
    found = {} if reading is None else _by_number(reading.fetches)
    large = [index for index, plane in planes.items() if max(plane.shape[:2]) > COORDINATE_LIMIT]
    if max(i1, j1) < COORDINATE_LIMIT and not large:
        size = tile_size(domain, count)
        return launch, LaunchPlan(launch=number, tiles=tuple(tiles(domain, size)), size=size, fetches=found)
    if reading is None and _source(launch.program) is None:
        raise SplitError(
            f"{job.path}: --split: beyond {COORDINATE_LIMIT:,} x {COORDINATE_LIMIT:,} a tile begins at an origin that "
            f"the program adds; {launch.program.path.name} is made already, and only a kernel in C or Python can be "
            "compiled so"
        )
    reading = _reading(launch) if reading is None else reading
    assert reading is not None
    plan = LaunchPlan(
        launch=number, tiles=(), size=(1, 1), fetches=found, origins=_origins(launch, large),
        whole_pixel=reading.is_whole,
    )  # fmt: skip
    _check_known(job, found, {index: planes[index] for index in large})
    return _with_origins(launch, plan.origins), _fitting(job, plan, domain, count, planes)


def _reading(launch: Launch) -> KernelFetches | None:
    """How a kernel looks its inputs up; None where the program is no kernel."""
    program = launch.program
    source = _source(program)
    if source is None:
        return None
    return kernel_fetches(source, isa=program.executable.kind, name=program.kernel, constants=launch.constants.floats)


def _source(program: ProgramFile) -> "Path | Translation | None":
    """What a program can be compiled of again, with origins; None where that is not known."""
    if isinstance(program, TranslatedProgram):
        return program.translation
    return program.path if program.path.suffix in SUFFIXES else None


def _by_number(fetches: Sequence[Fetch]) -> dict[int, list[Fetch]]:
    found: dict[int, list[Fetch]] = {}
    for fetch in fetches:
        found.setdefault(fetch.number, []).append(fetch)
    return found


def _check_known(job: LoadedJob, fetches: Mapping[int, Sequence[Fetch]], planes: Mapping[int, Plane]) -> None:
    """Check that of inputs that are larger than a buffer it is known what tiles read."""
    for index, plane in planes.items():
        for fetch in fetches.get(index, ()):
            for side, coordinate in zip(plane.shape[1::-1], (fetch.x, fetch.y), strict=True):
                if side > COORDINATE_LIMIT and coordinate is None:
                    raise SplitError(
                        f"{fetch.location or job.path}: --split: which elements of input {index} this fetch reads is "
                        f"not known beforehand, and the input's side of {side:,} is more than the {COORDINATE_LIMIT:,} "
                        "of a buffer; look up at the pixel plus constants"
                    )


def _fitting(
    job: LoadedJob, plan: LaunchPlan, domain: Rectangle, count: int, planes: Mapping[int, Plane]
) -> LaunchPlan:
    """The plan with tiles whose windows into inputs fit into buffers."""
    most = COORDINATE_LIMIT
    while most:
        size = tile_size(domain, count, most)
        fitting = replace(plan, tiles=tuple(tiles(domain, size)), size=size)
        windows = (fitting.window(index, plane, tile) for index, plane in planes.items() for tile in fitting.tiles)
        if all(max(window.width, window.height) <= COORDINATE_LIMIT for window in windows):
            return fitting
        # First a border of some elements, then what is looked up at multiples of the pixel.
        most = most - COLUMNS if most > COORDINATE_LIMIT - _BORDERS * COLUMNS else most // 2 // COLUMNS * COLUMNS
    first = next(fetch for index in planes for fetch in plan.fetches.get(index, ()))
    raise SplitError(
        f"{first.location or job.path}: --split: fetches from input {first.number} are further apart than the "
        f"{COORDINATE_LIMIT:,} elements of a buffer, whatever the tile"
    )


def _origins(launch: Launch, inputs: Sequence[int]) -> Origins:
    """Constants for origins: the last ones that neither the kernel nor the job names."""
    named = {*launch.program.executable.notes.float_constants, *launch.constants.floats}
    named -= launch.program.constants.floats.keys()
    free = [number for number in reversed(range(FLOAT_CONSTANTS)) if number not in named]
    return Origins(free[0], dict(zip(inputs, free[1:], strict=False)))


def _with_origins(launch: Launch, origins: Origins | None) -> Launch:
    """A launch whose program begins at origins."""
    old = launch.program
    source, isa = _source(old), old.executable.kind
    if isinstance(source, Path):
        kernel = compile_kernel(source, isa=isa, name=old.kernel, origins=origins)
    else:
        assert source is not None
        kernel = compile_translation(source, isa=isa, origins=origins)
    program = program_of(old.path, kernel.executable, kernel=old.kernel, warnings=old.warnings)
    constants = launch.constants
    # Numbers that the old program brought along may be others' constants now.
    given = replace(
        constants,
        floats={key: words for key, words in constants.floats.items() if old.constants.floats.get(key) != words},
        ints={key: word for key, word in constants.ints.items() if old.constants.ints.get(key) != word},
    )
    return replace(launch, program=program, constants=program.constants | given)
