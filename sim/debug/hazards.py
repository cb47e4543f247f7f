"""Hazards of a launch as places to stop at: it runs once in front of the session, with all of them watched."""

from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.launches import Started
from ctm.sim.debug.stops import Stop
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.pe.processor import BATCH_LANES


def hazard_stops(started: Started, cancellation: Cancellation) -> list[Stop]:
    """Run a launch and undo it: for each hazard a stop in front of the read, in a wavefront that makes it."""
    launch, instruction_set = started.launch, started.instruction_set
    kept = Kept.of_outputs(launch)
    run = ArrayRun(instruction_set, launch, hazards=True, observers=[cancellation])
    together = max(1, BATCH_LANES // launch.lanes)
    try:
        for begin in range(0, len(started.order), together):
            part = slice(begin, begin + together)
            run.execute(
                started.order[part], started.i[part].ravel(), started.j[part].ravel(), started.covered[part].ravel()
            )
    finally:
        kept.restore()
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
