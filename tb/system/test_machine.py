"""The machine in hardware, compiled, gives what the golden model gives, in every bit."""

from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.lib.machines import machine
from ctm.tb.r5xx.shaders import NAMES, Shader, run
from ctm.tb.system.example_jobs import JOBS, SHORT

ORDINARY = {*SHORT} - {"bitonic"}
"""On one lane it takes ten seconds."""
on_small_machines = pytest.mark.parametrize("preset", ["small", "compact"])


@pytest.mark.parametrize("name", NAMES)
def test_compiled_programs_leave_the_same_bits(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    domains = [(0, 0, width - 1, height - 1), (1, 1, width - 2, height - 2), (3, 2, 3, 2)]
    for domain in domains:
        found, expected = (
            run(shader, domain=domain, engine=engine, config=machine("r5xx")) for engine in ("rtl", "golden")
        )
        for other, bits in zip(found.bits, expected.bits, strict=True):
            np.testing.assert_array_equal(other, bits)


@pytest.mark.long
@on_small_machines
def test_compiled_programs_leave_the_same_bits_on_small_machines(preset: str) -> None:
    config = PRESETS[preset]
    for name in NAMES:
        shader = Shader.load(name)
        width, height = shader.grid
        domain = (0, 0, width - 1, height - 1)
        found, expected = (run(shader, domain=domain, engine=engine, config=config) for engine in ("rtl", "golden"))
        for other, bits in zip(found.bits, expected.bits, strict=True):
            np.testing.assert_array_equal(other, bits, err_msg=name)


@pytest.mark.long
@on_small_machines
@pytest.mark.parametrize("job", [pytest.param(job, id=job.stem) for job in JOBS if job.stem in SHORT])
def test_examples_leave_the_same_bits_on_small_machines(preset: str, job: Path) -> None:
    loaded = load_job(job)
    found, expected = (
        Execution(loaded, engine=engine, config=PRESETS[preset], watchdog=WATCHDOG).run()
        for engine in ("rtl", "golden")
    )
    assert first_difference(found, expected) is None


@pytest.mark.parametrize(
    "job", [pytest.param(job, id=job.stem, marks=() if job.stem in ORDINARY else pytest.mark.long) for job in JOBS]
)
def test_examples_leave_the_same_bits(job: Path) -> None:
    loaded = load_job(job)
    found, expected = (
        Execution(loaded, engine=engine, config=machine("r5xx"), watchdog=WATCHDOG).run()
        for engine in ("rtl", "golden")
    )
    assert first_difference(found, expected) is None
