"""Why a session stopped."""

from dataclasses import dataclass

from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.fault import MachineError


@dataclass(frozen=True)
class Event:
    """Why it stopped.

    ``step``, ``breakpoint``, ``end`` of a wavefront, ``fault``, ``hazard``, or ``finished``: the job's end.
    """

    reason: str
    stop: Stop | None = None
    error: MachineError | None = None
