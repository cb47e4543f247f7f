"""A launch runs once and is undone, beside the session: where its hazards are, and its last store."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.launches import Started
from ctm.sim.debug.slicing.conditions import Condition, condition_of
from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.debug.stopping.stores import Area, LastStore, Store
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.batch import Mask
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.r700.draws.pixels import Ended, PixelLaunch


def _trial(started: Started, cancellation: Cancellation, **options: Any) -> ArrayRun[Any, Any]:
    """The whole launch, as it would run; memory is as it was."""
    launch = started.launch
    kept = Kept.of_outputs(launch)
    run: ArrayRun[Any, Any] = ArrayRun(started.instruction_set, launch, observers=[cancellation], **options)
    try:
        started.execute(run, 0, len(started.order))
    finally:
        kept.restore()
    return run


@contextmanager
def _fragments(
    started: Started, pixel: tuple[int, int], cancellation: Cancellation, end: int | None = None
) -> Iterator[tuple[Ended, Mask] | None]:
    """A draw's fragments of a pixel, before index `end`, and which pass the test: memory is as after it."""
    (i, j) = pixel
    assert isinstance(started.launch, PixelLaunch)
    # What strips left so far is kept.
    launch = replace(started.launch, ended=[])
    # The test of a pixel is one of what other strips left at the same coordinates.
    chosen = np.flatnonzero(((started.i == i) & (started.j == j) & started.covered).any(axis=1))
    kept = Kept.of_outputs(launch)
    run: ArrayRun[Any, Any] = ArrayRun(started.instruction_set, launch, observers=[cancellation])
    try:
        for index in chosen.tolist():
            if end is None or started.order[index] < end:
                started.execute(run, index, index + 1)
        yield launch.tested()
    finally:
        kept.restore()


def condition_of_fragment(
    started: Started, pixel: tuple[int, int], order: int, value: np.float32, cancellation: Cancellation
) -> Condition | None:
    """The test of a pixel of a strip, by what the strips in front of it left."""
    launch = started.launch
    assert isinstance(launch, PixelLaunch)
    with _fragments(started, pixel, cancellation, order):
        return condition_of(launch, pixel, launch.clamped(np.array([value], np.float32))[0])


@dataclass(frozen=True)
class Fragment:
    """A strip's fragment of a pixel, by the strip's index in the draw: whether it is stored, and else why not."""

    order: int
    is_stored: bool
    killed: bool = False
    condition: Condition | None = None
    """The test that failed."""

    def fate(self) -> str:
        """Why it is not stored."""
        if self.killed:
            return "its program killed the pixel"
        if self.condition is None:
            return "its program leaves nothing for the output"
        return next(self.condition.rows(), "the test fails, whatever is compared")


def fragments(
    started: Started, output: int | None, pixel: tuple[int, int], cancellation: Cancellation
) -> list[Fragment]:
    """The fragments of a pixel that strips of a draw have, in the order of the draw, and what becomes of each.

    They are stored in an output, or, without one, in the conditional buffer.
    """
    launch, (i, j) = started.launch, pixel
    covers = ((started.i == i) & (started.j == j) & started.covered).any(axis=1)
    left: dict[int, tuple[bool, bool, np.float32]] = {}
    with _fragments(started, pixel, cancellation) as found:
        if found is not None:
            pixels, passed = found
            written = np.ones(pixels.order.size, bool)
            if output is not None:
                written = pixels.written[launch.program.outputs.index(output)].any(axis=0)
            for at in np.flatnonzero((pixels.i == i) & (pixels.j == j)).tolist():
                left[int(pixels.order[at])] = bool(passed[at]), bool(written[at]), pixels.conditional[at]
    result = []
    for order in started.order[covers].tolist():
        if order not in left:
            result.append(Fragment(order, is_stored=False, killed=True))
            continue
        has_passed, is_written, value = left[order]
        condition = None if has_passed else condition_of_fragment(started, pixel, order, value, cancellation)
        result.append(Fragment(order, has_passed and is_written, condition=condition))
    return result


def storing_strips(started: Started, output: int, pixel: tuple[int, int], cancellation: Cancellation) -> list[int]:
    """The indices of the strips of a draw that store an element of an output, in the order in which they do."""
    return [each.order for each in fragments(started, output, pixel, cancellation) if each.is_stored]


def last_store(started: Started, area: Area, cancellation: Cancellation) -> Store | None:
    """The store of a launch to an area that is the last one in the order of the domain walk, if there is one."""
    stores = LastStore(area)
    _trial(started, cancellation, stores=stores)
    return stores.found


def hazard_stops(started: Started, cancellation: Cancellation) -> list[Stop]:
    """Run a launch and undo it: for each hazard a stop in front of the read, in a wavefront that makes it."""
    launch, instruction_set = started.launch, started.instruction_set
    run = _trial(started, cancellation, hazards=True)
    stops = []
    for hazard in run.hazards():
        holds = ((started.i == hazard.i) & (started.j == hazard.j)).any(axis=1)
        stops.append(
            Stop(
                number=0,
                text=f"{instruction_set.describe_pc(hazard.pc)}: {hazard.text}",
                executable=launch.executable,
                units=frozenset({instruction_set.unit(hazard.pc)}),
                order=int(started.order[holds.argmax()]),
                pixel=(hazard.i, hazard.j),
            )
        )
    return stops
