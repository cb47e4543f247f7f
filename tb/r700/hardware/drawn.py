"""Random programs of several kinds, compared after every instruction."""

from collections.abc import Callable, Mapping
from functools import cache

from ctm.rtl.config import R700
from ctm.sim.engines.model import Disturbance
from ctm.sim.fault import CycleLimitError
from ctm.tb.lib.machines import machine
from ctm.tb.r700.hardware.limits import is_unsupported
from ctm.tb.r700.hardware.lockstep import Difference, compare
from ctm.tb.r700.hardware.random_fetches import draw_job
from ctm.tb.r700.hardware.random_programs import mixed_job
from ctm.tb.r700.hardware.traced import TracedEngine
from ctm.tb.r700.machine import Job
from ctm.tb.r700.random_groups import draw
from ctm.tb.r700.random_statements import job_of

PROGRAMS = 50
"""Within so many programs of a kind a mistake is found."""
_MEMORIES = (Disturbance(), Disturbance(jitter=20, stall=0.3, seed=1), Disturbance(jitter=200, seed=2))


def _groups(seed: int) -> Job | None:
    drawn = draw(seed)
    if any(is_unsupported(slots) for clause in drawn.clauses for slots in clause.groups):
        return None
    return drawn.job(R700.array.wavefront_lanes, shown=range(4))


DRAWN: Mapping[str, Callable[[int], Job | None]] = {
    "control flow": lambda seed: job_of(seed)[0], "groups": _groups, "fetches": draw_job, "everything": mixed_job,
}  # fmt: skip
"""The function that makes the job of a seed, without programs that the hardware does not support."""


@cache
def _engine(disturbance: Disturbance) -> TracedEngine:
    """One for all runs of a kind: all share one compiled model."""
    return TracedEngine(machine("traced r700"), disturbance)


def engine_of(seed: int) -> TracedEngine:
    """A machine with one of several memories."""
    return _engine(_MEMORIES[seed % len(_MEMORIES)])


def check(kind: str, seeds: range, engine: Callable[[int], TracedEngine] = engine_of) -> None:
    """Compare the jobs of seeds."""
    for seed in seeds:
        job = DRAWN[kind](seed)
        if job is None:
            continue
        try:
            compare(job, engine(seed))
        except (Difference, AssertionError, CycleLimitError) as difference:
            raise AssertionError(f"{kind}, seed {seed}: {difference}") from None
