"""Work of a sweep in this process, one item after the other."""

from collections.abc import Callable, Iterator
from functools import partial

from ctm.sim.engines.choice import ENGINES
from ctm.sim.engines.rtl import quick_models
from ctm.sim.sweep.measuring import ERROR, FAILURES, Plan, Record, Task, counted, failed, measure


def do_here(plan: Plan, tell: Callable[[str], None]) -> Iterator[Record]:
    """Do all of it; `tell` is called with a sentence before what takes long."""
    for task in plan.tasks:
        # It sets a variable of the environment, which is not for what happens between records.
        with quick_models():
            record = _do(task, plan, tell)
        yield record
    for hardware, config in plan.areas.items():
        yield counted(hardware, config)


def _do(task: Task, plan: Plan, tell: Callable[[str], None]) -> Record:
    sentence = f"compiling a machine for engine '{task.engine}', once for this configuration ..."
    try:
        ENGINES[task.engine].prepare(task.config, partial(tell, sentence))
    except FAILURES as error:
        return failed(task, ERROR, str(error))
    return measure(task, plan.jobs[task.job])
