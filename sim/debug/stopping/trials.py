"""A launch runs once and is undone, beside the session: where its hazards are, and its last store."""

from typing import Any

from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.launches import Started
from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.debug.stopping.stores import Area, LastStore, Store
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.core import ArrayRun


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
                text=f"{instruction_set.place(hazard.pc)}: {hazard.text}",
                executable=launch.executable,
                units=frozenset({instruction_set.unit(hazard.pc)}),
                order=int(started.order[holds.argmax()]),
                pixel=(hazard.i, hazard.j),
            )
        )
    return stops
