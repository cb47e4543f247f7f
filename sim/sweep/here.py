"""Work of a sweep in this process, one item after the other."""

from collections.abc import Callable, Iterator
from functools import partial

from ctm.sim.engines.choice import ENGINES
from ctm.sim.engines.rtl import quick_models
from ctm.sim.sweep.measuring import ERROR, FAILURES, Plan, Record, counted, failed, measure


def do_here(plan: Plan, tell: Callable[[str], None]) -> Iterator[Record]:
    """Do all of it; `tell` is called with a sentence before what takes long."""
    with quick_models():
        for task in plan.tasks:
            try:
                sentence = f"compiling a machine for engine '{task.engine}', once for this configuration ..."
                ENGINES[task.engine].prepare(task.config, partial(tell, sentence))
            except FAILURES as error:
                yield failed(task, ERROR, str(error))
            else:
                yield measure(task, plan.jobs[task.job])
    for hardware, config in plan.areas.items():
        yield counted(hardware, config)
