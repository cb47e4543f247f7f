"""Which jobs can be run in tiles, and why others cannot."""

from collections.abc import Iterator

from ctm.sim.engines.choice import ENGINES
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.split.error import SplitError


def check_support(job: LoadedJob, engine: str) -> None:
    """Check that a job gives in tiles what it gives in one run.

    Raises
    ------
    SplitError
        It may not, for a reason that is named; or the engine cannot do tiles.
    """
    if engine == SerialEngine.name:
        others = ", ".join(name for name in ENGINES if name != engine)
        raise SplitError(f"--split: engine '{engine}' is one board, which runs whole domains; choose of {others}")
    for reason in _reasons(job):
        raise SplitError(f"{job.path}: --split: {reason}; run it without --split")


def _reasons(job: LoadedJob) -> Iterator[str]:
    if job.draw is not None:
        yield "[draw] is not divided: a primitive may cover any pixel, and its order among the others counts"
    if job.conditional is not None or job.job.conditional is not None:
        yield "[conditional] tests each pixel against a buffer that launches change in their order"
    for launch in job.launches:
        yield from _reasons_of(launch)


def _reasons_of(launch: Launch) -> Iterator[str]:
    program, name = launch.program.executable, launch.program.path.name
    if program.uncached_writes:
        yield (
            f"{name} has uncached writes, which go to elements that it computes, of any tile, "
            "and of two to one element the last one counts"
        )
    if program.sees_wavefront_size:
        yield (
            f"{name} shares data in a workgroup or reads its pixel's number, "
            "so its results depend on which wavefront a pixel is in"
        )
