"""Runs a job in stages, so that one can look at what lies in between."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctm.examples.expectation import Array
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.jobs.sample import sample
from ctm.sim.runtime.device import WATCHDOG

ENGINE, COMPILED, REFERENCE = "rtl", "fast", "golden"


@dataclass(frozen=True)
class Stage:
    """Some launches of a job: what the outputs hold after them, by file, and what they took."""

    outputs: dict[str, Array]
    cycles: int | None
    """None of what ran compiled."""
    taken: int | None
    """Cycles in which the lanes take an ALU or OUTPUT instruction, or an ALU instruction group; None as well."""
    seconds: float
    difference: str | None
    """From the golden model, None where every bit is the same."""


def run_stages(job: LoadedJob, ends: Sequence[int] = ()) -> Iterator[Stage]:
    """Run all launches of a job on the hardware and on the golden model, each repetition counting as one.

    A stage ends before each launch in `ends`.

    Raises
    ------
    MachineError
        A launch failed.
    """
    config = PRESETS[DEFAULT_PRESETS[job.kinds[0]]]
    launches = [_once(launch) for launch in job.launches for _ in range(launch.section.repeat)]
    for first, end in zip((0, *ends), (*ends, len(launches)), strict=True):
        selected = replace(job, launches=tuple(launches[first:end]))
        execution, reference = (
            Execution(selected, engine=engine, config=config, watchdog=WATCHDOG) for engine in (ENGINE, REFERENCE)
        )
        start = time.perf_counter()
        run = execution.run()
        seconds = time.perf_counter() - start
        difference = first_difference(run, reference.run())
        outputs = {job.files[key].name: array for key, array in run.outputs.items()}
        # A wavefront that is larger than the lanes takes them for several cycles.
        taken = run.report.counters["issued_alu"] * config.array.cycles_per_wavefront
        yield Stage(outputs, run.report.cycles, taken, seconds, difference)
        written = {index: run.outputs[output] for output, index in launches[end - 1].section.swap}
        inputs = tuple((section, layout, written.get(section.index, array)) for section, layout, array in job.inputs)
        job = replace(job, inputs=inputs)


def run_compiled(job: LoadedJob) -> Stage:
    """Run a large job compiled, and on the golden model a sample of it, with which it is compared."""
    selected = sample(job)
    assert selected is not None
    config = PRESETS[DEFAULT_PRESETS[job.kinds[0]]]
    start = time.perf_counter()
    run = Execution(job, engine=COMPILED, config=config, watchdog=WATCHDOG).run()
    seconds = time.perf_counter() - start
    reference = Execution(selected.job, engine=REFERENCE, config=config, watchdog=WATCHDOG).run()
    outputs = {job.files[key].name: array for key, array in run.outputs.items()}
    difference = first_difference(selected.of(run), reference)
    return Stage(outputs, None, None, seconds, difference)


def _once(launch: Launch) -> Launch:
    return replace(launch, section=launch.section.model_copy(update={"repeat": 1}))
