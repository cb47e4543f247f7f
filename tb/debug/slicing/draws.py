"""The programs of a draw as launches, each as it begins."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ctm.rtl.config import R700
from ctm.sim.debug.launches import Launches, Started
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.jobs.loading import LoadedJob


def stages_of(job: LoadedJob, wavefront: int) -> Iterator[Started]:
    """Launches of a job with wavefronts of this size; what is run of one meanwhile is undone."""
    launches = Launches(job, replace(R700, array=R700.array.with_wavefront(wavefront)), 0)
    found = launches.next()
    while isinstance(found, Started):
        kept = Kept.of_outputs(found.launch)
        yield found
        kept.restore()
        run: ArrayRun[Any, Any] = ArrayRun(found.instruction_set, found.launch)
        found.execute(run, 0, len(found.order))
        assert run.fault is None
        found = launches.next()
