"""The R700 core as RTL: compiled programs and random ones on the whole machine, word for word as the golden model.

The core does not execute everything yet, so users are not given it; see docs/r700.md.
"""

from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
import pytest

from ctm.rtl.config import R700
from ctm.sim.report.r700_workloads import mandelbrot, sha256
from ctm.sim.report.workloads import Workload, prepare
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.hardware.machine import compare, engine
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.random_groups import GPRS, draw
from ctm.tb.r700.random_statements import job_of
from ctm.tb.r700.shaders import FILES, Shader, run
from ctm.tb.r700.words import export, group, slot, tex

pytestmark = pytest.mark.long

MEMORIES = ((1, 0.0), (20, 0.3), (200, 0.0))
"""Latencies and stalls of the memory."""
_SHOWN = 4
_INTERVAL, _BUSY = 4, 0.95
"""Cycles of an interval, and the share of intervals in which a group is issued."""


@pytest.fixture(autouse=True)
def _open_door() -> Iterator[None]:
    with patch("ctm.sim.engines.cycle_accurate.check_hardware"):
        yield


@pytest.mark.parametrize("name", FILES)
def test_compiled_programs(name: str) -> None:
    shader = Shader.load(name)
    for one, two in zip(run(shader).bits, run(shader, engine="rtl").bits, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_control_flow(first: int, memory: tuple[int, float]) -> None:
    for seed in range(first, first + 20):
        compare(job_of(seed)[0], engine(*memory))


@pytest.mark.parametrize("seed", range(100))
def test_random_groups(seed: int) -> None:
    """All registers behind clauses of random groups, as many at a time as there are outputs."""
    drawn = draw(seed)
    for first in range(0, GPRS, _SHOWN):
        compare(drawn.job(16, shown=range(first, min(GPRS, first + _SHOWN))))


def test_a_fetch_faults_behind_lookups_that_are_under_way() -> None:
    a = Assembly()
    a.fetch(tex("LD", 1, 0), tex("LD", 2, 0), tex("FETCH4", 3, 0))
    a.end()
    picture = Input(values=np.arange(64, dtype=np.float32).reshape(4, 4, 4))
    found = compare(Job(program=a.executable(), inputs={0: picture}))
    assert found.fault is not None and found.fault[0] == "ILLEGAL_INSTRUCTION"


def test_a_burst_counts_beyond_the_last_register() -> None:
    """Registers 124 to 127 are clause temporaries, behind which there are none."""
    a = Assembly()
    a.alu(*(group(slot("MOV", f"T{number}.x", f"#{number + 1}")) for number in range(4)))
    a.raw(export(0, 126, burst_count=3))
    a.end()
    found = compare(Job(program=a.executable(), targets=4))
    assert found.outputs[:, 0, 0, 0].tolist() == [3, 4, 0, 0]


@pytest.mark.parametrize(("make", "side"), [(mandelbrot, 64), (sha256, 32)])
def test_the_lanes_are_busy(make: Callable[[int], Workload], side: int) -> None:
    prepared = prepare(make(side), "rtl", R700)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    report = prepared.device.report()
    assert report.cycles is not None
    assert _INTERVAL * report.counters["issued_alu"] > _BUSY * report.cycles
