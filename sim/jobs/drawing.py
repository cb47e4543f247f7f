"""Which jobs that draw an engine can run.

Source: docs/draws.md.
"""

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.vgt.topology import assembled
from ctm.sim.engines.choice import ENGINES
from ctm.sim.jobs.loading import LoadedJob


def draws_in_hardware(job: LoadedJob, engine: str) -> bool:
    """Whether hardware is to draw: a job that draws is to run on an engine that counts cycles."""
    without = [name for name, known in ENGINES.items() if not known.counts_cycles]
    return job.draw is not None and engine not in without


def draw_problem(job: LoadedJob, engine: str, config: MachineConfig) -> str:
    """Why an engine does not do the draw of a job, with what does; empty if it does, or if the job does not draw."""
    return hardware_problem(job, config) if draws_in_hardware(job, engine) else ""


def hardware_problem(job: LoadedJob, config: MachineConfig) -> str:
    """The same of any engine that is hardware."""
    section = job.job.draw
    if job.draw is None or section is None:
        return ""
    if not config.pipeline.draws:
        return (
            "this machine does not draw: --preset r700-draw does; so do engines golden, fast and auto with any preset"
        )
    beyond = next(iter(_beyond(job, config)), None)
    return "" if beyond is None else f"the hardware does not draw with {beyond}; engines golden, fast and auto do"


def _beyond(job: LoadedJob, config: MachineConfig) -> list[str]:
    """What the hardware does not do."""
    section = job.job.draw
    assert section is not None
    kind, pipeline = section.primitive, getattr(job.launches[0].program.executable, "pipeline", None)
    targets = [output.index for output in job.job.outputs if output.index >= config.array.outputs]
    has_program, geometry = pipeline is not None and pipeline.geometry is not None, config.pipeline.has_geometry
    found = {
        "geometry programs": has_program and not geometry,
        f"primitives {PrimitiveType(kind).name}": kind not in assembled(geometry=geometry),
        "streams": bool(section.streams) and not geometry,
        f"more than {config.array.outputs} targets": bool(targets),
    }
    return [what for what, happens in found.items() if happens]
