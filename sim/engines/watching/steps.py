"""A run of the golden model as events: the order in which wavefronts do their work, without times.

Each instruction of a wavefront takes one step. Wavefronts take the wave slot of their track that is free first, and a
launch begins when the one before it has ended, so that a picture has the work and its divergence.
"""

import heapq
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.dpp.watch import Wait
from ctm.sim.engines.seen import EVENT, ISSUED, TAKEN, WAITS_FOR, Track
from ctm.sim.golden.dpp.steps import Begun, Steps

Events = npt.NDArray[Any]


def events_of(steps: Steps, unit: Callable[[int], int], wave_slots: int) -> tuple[Events, tuple[Track, ...]]:
    """The events of all wavefronts, and the tracks that their `core` counts; `unit` is where an instruction begins."""
    if not steps.issues:
        return np.zeros(0, EVENT), ()
    tracks = list(dict.fromkeys(_track(launch.stage) for launch in steps.launches))
    batches, now = [], 0
    issued = _by_wavefront(steps)
    for launch, rows in _runs(issued, steps):
        track = tracks.index(_track(launch.stage))
        found, now = _scheduled(rows, now, wave_slots)
        found["core"], found["executable"] = track, launch.executable
        issues = found["kind"] == ISSUED
        found["pc"][issues] = [unit(int(pc)) for pc in found["pc"][issues]]
        batches.append(found)
    events = np.concatenate(batches)
    return events[np.argsort(events["cycle"], kind="stable")], tuple(tracks)


_PIXELS = "PS"
_ITEMS = {"VS": "vertex", "ES": "vertex", "GS": "primitive", "DC": "emitted vertex"}
"""What a lane of a draw's programs is, but for pixels."""
_ROW = np.dtype([(name, "<i8") for name in ("launch", "order", "pc", "i", "j", "working", "present")])


def _track(stage: str | None) -> Track:
    """The track of launches; of a draw's programs each stage has its own."""
    if stage is None:
        return Track("steps of the golden model, no times", "wavefront ({i}, {j})")
    wavefront = f"{_ITEMS[stage]} {{i}} and following" if stage in _ITEMS else "strip ({i}, {j})"
    return Track(f"{stage}: steps of the golden model, no times", wavefront)


def _by_wavefront(steps: Steps) -> Events:
    """A row for each instruction of each wavefront, those of one after each other."""
    rows = np.zeros(sum(issue.order.size for issue in steps.issues), _ROW)
    first = 0
    for issue in steps.issues:
        own = rows[first : first + issue.order.size]
        own["launch"], own["pc"] = issue.launch, issue.pc
        for name in ("order", "i", "j", "working", "present"):
            own[name] = getattr(issue, name)
        first += issue.order.size
    return rows[np.lexsort((rows["order"], rows["launch"]))]


def _runs(rows: Events, steps: Steps) -> Iterator[tuple[Begun, Events]]:
    """Launches with their rows; those of the strips of one draw, which are many, as one."""
    launches = steps.launches
    pairs = enumerate(zip(launches, launches[1:], strict=False), start=1)
    begins = [0, *(number for number, (before, launch) in pairs if launch.stage != _PIXELS or launch != before)]
    bounds = np.searchsorted(rows["launch"], [*begins, len(launches)])
    for begin, first, last in zip(begins, bounds, bounds[1:], strict=False):
        if last > first:
            yield launches[begin], rows[first:last]


def _scheduled(rows: Events, now: int, wave_slots: int) -> tuple[Events, int]:
    """The events of wavefronts from step `now` on, and the step at which the last one ends."""
    free = [(now, number) for number in range(wave_slots)]
    batches, end = [], now
    for _, indices in groupby(range(len(rows)), key=lambda at: (rows["launch"][at], rows["order"][at])):
        numbers = list(indices)
        own = rows[numbers[0] : numbers[-1] + 1]
        begin, wave_slot = heapq.heappop(free)
        found = np.zeros(len(own) + 2, EVENT)
        found["slot"] = wave_slot
        found["cycle"] = begin + np.r_[0, np.arange(len(own)), len(own)]
        found["kind"] = [TAKEN, *[ISSUED] * len(own), WAITS_FOR]
        found[0]["pc"], found[0]["second"], found[0]["lanes"] = own[0]["i"], own[0]["j"], own[0]["present"]
        found["pc"][1:-1], found["lanes"][1:-1], found["second"][1:-1] = own["pc"], own["working"], own["present"]
        found[-1]["what"] = Wait.FREE.value
        heapq.heappush(free, (begin + len(own), wave_slot))
        end = max(end, begin + len(own))
        batches.append(found)
    return np.concatenate(batches), end
