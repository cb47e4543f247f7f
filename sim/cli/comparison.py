"""``ctm run --check``: a run compared with the golden model, bit for bit."""

from dataclasses import replace

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import Status
from ctm.sim.cli.outcome import Mismatch
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.jobs.drawing import draws_in_hardware
from ctm.sim.jobs.execution import Execution, Run, count_difference, first_difference
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.jobs.sample import Sample, sample


def compare(loaded: LoadedJob, result: Run, engine: str, config: MachineConfig, watchdog: int, *, whole: bool) -> str:
    """Compare a run with the golden model; the end of its summary's sentence.

    Of a large domain that engine `fast` ran, a sample is compared, or the `whole` of it. `engine` is the one that ran
    the job, never ``auto``; a wavefront of the golden model may execute `watchdog` instructions, 0: no limit.

    Raises
    ------
    Mismatch
        A bit of an output differs, or a counter.
    """
    chosen = sample(loaded) if engine == FastEngine.name and not whole else None
    _compare(loaded, result, chosen, engine, config, watchdog)
    said = ", equal to the golden model in every bit"
    if chosen is not None:
        said += f" of a sample of {chosen.pixels:,} pixels; --check-all compares all"
    return said


def _compare(
    loaded: LoadedJob, result: Run, chosen: Sample | None, engine: str, config: MachineConfig, watchdog: int
) -> None:
    """Compare all, or the chosen sample; the golden engine is compared with itself at another wavefront size.

    The size is kept if a program can read it. Counters are compared if the wavefronts and the domain are the same.
    """
    reads_size = any(launch.program.executable.sees_wavefront_size for launch in loaded.launches)
    has_other_wavefronts = engine == GoldenEngine.name and not reads_size
    if has_other_wavefronts:
        config = replace(config, array=config.array.with_wavefront(16 if config.array.wavefront_lanes == 4 else 4))
    job = loaded if chosen is None else chosen.job
    golden = Execution(job, engine="golden", config=config, watchdog=watchdog).run()
    if chosen is not None:
        result, golden = chosen.of(result), chosen.of(golden)
    difference = first_difference(result, golden)
    # Hardware shades a vertex again in each batch that has it, so its counters differ.
    if difference is None and chosen is None and not has_other_wavefronts and not draws_in_hardware(loaded, engine):
        difference = count_difference(result, golden)
    if difference is not None:
        raise Mismatch(f"{difference}{_hazard(loaded, config, watchdog)}")


def _hazard(loaded: LoadedJob, config: MachineConfig, watchdog: int) -> str:
    """The message of a hazard that may explain a difference; empty if the job has none."""
    try:
        Execution(loaded, engine="golden", config=config, watchdog=watchdog, hazards=True).run()
    except MachineError as error:
        if error.status is Status.HAZARD:
            return f"\na likely reason, which --engine golden --hazards reports too: {error}"
    return ""
