"""The machine compiled by CXXRTL is the one that Verilator compiles: cycles, counters, errors and all of memory.

Compiling it takes as long as many tests together, so all of this runs with --long. `tb/compiled/test_cxxrtl.py` has
what compiles small designs.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT, R700, TINY, MachineConfig, with_settings
from ctm.sim.engines.cxxrtl import CxxrtlEngine
from ctm.sim.engines.engine import Report
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.memory import Memory
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.r5xx.shaders import NAMES, Shader, run
from ctm.tb.r700 import shaders as r700
from ctm.tb.system import memories, soak_r700
from ctm.tb.system.example_jobs import JOBS
from ctm.tb.system.soak import MOST_CYCLES
from ctm.tb.system.soak_programs import R5XX, Source
from ctm.tb.system.soak_work import Work, draw_work

pytestmark = pytest.mark.long
_PART = 50
_WORK = [(DEFAULT, R5XX, first) for first in range(0, 200, _PART)] + [(R700, soak_r700.R700, 0)]


@pytest.mark.parametrize("name", NAMES)
def test_compiled_programs_leave_the_same_bits_as_in_the_golden_model(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    for domain in [(0, 0, width - 1, height - 1), (1, 1, width - 2, height - 2), (3, 2, 3, 2)]:
        found, expected = (run(shader, domain=domain, engine=engine) for engine in ("cxxrtl", "golden"))
        for other, bits in zip(found.bits, expected.bits, strict=True):
            np.testing.assert_array_equal(other, bits)


@pytest.mark.parametrize("job", [pytest.param(job, id=job.stem) for job in JOBS])
def test_examples_leave_the_same_bits_in_the_same_cycles(job: Path) -> None:
    loaded = load_job(job)
    runs = [Execution(loaded, engine=name, config=DEFAULT, watchdog=WATCHDOG) for name in ("cxxrtl", "rtl")]
    assert first_difference(runs[0].run(), runs[1].run()) is None
    assert runs[0].device.report() == runs[1].device.report()


def test_cores_that_are_written_several_times_do_the_same() -> None:
    loaded, config = (
        load_job(next(job for job in JOBS if job.stem == "matmul")),
        with_settings(TINY, {"array.cores": 2}),
    )
    runs = [Execution(loaded, engine=name, config=config, watchdog=WATCHDOG) for name in ("cxxrtl", "rtl")]
    assert first_difference(runs[0].run(), runs[1].run()) is None
    assert runs[0].device.report() == runs[1].device.report()


@pytest.mark.parametrize("name", r700.FILES)
def test_compiled_r700_programs_leave_the_same_bits_as_in_the_golden_model(name: str) -> None:
    found, expected = (r700.run(r700.Shader.load(name), engine=engine) for engine in ("cxxrtl", "golden"))
    for other, bits in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(other, bits)


@pytest.mark.parametrize(
    ("config", "source", "first"), _WORK, ids=[f"{source.kind}-{first}" for _, source, first in _WORK]
)
def test_random_work_takes_the_same_course(config: MachineConfig, source: Source, first: int) -> None:
    """Whatever memory does: it answers late, stalls and refuses, and the host resets the machine."""
    for seed in range(first, first + _PART):
        work = draw_work(seed, source)
        found, expected = (_course(engine, work, config) for engine in (CxxrtlEngine, RtlEngine))
        assert found[0] == expected[0], f"seed {seed}"
        assert memories.first_difference(found[1], expected[1], ignored=set()) is None, f"seed {seed}"


def _course(
    made_by: type[CxxrtlEngine | RtlEngine], work: Work, config: MachineConfig
) -> tuple[list[str | Report], Memory]:
    """How each buffer ends and what has been counted then, and the memory that is left."""

    class Engine(made_by):
        disturbance = work.disturbance

    memory = replace(config.memory, latency=work.latency, bytes_per_cycle=work.bytes_per_cycle)
    engine = Engine(replace(config, memory=memory), watchdog=work.watchdog)
    for address, data in work.contents:
        engine.memory.write(address, data)
    for first, end in work.refused:
        engine.memory.refuse(first, end)
    course: list[str | Report] = []
    for buffer in work.buffers:
        for limit in ([] if buffer.reset_after is None else [buffer.reset_after]) + [MOST_CYCLES]:
            engine._max_cycles = engine._cycles + limit
            try:
                engine.execute(buffer.address, buffer.dwords)
            except (MachineError, CycleLimitError) as error:
                course.append(str(error))
            course.append(engine.report())
    return course, engine.memory
