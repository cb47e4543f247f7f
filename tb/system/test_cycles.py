"""The hardware's cycles do not grow unnoticed: they are the same on every computer, so they are compared exactly."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtl.config import DEFAULT, with_settings
from sim.report import workloads
from sim.report.cycles import LATENCIES, measure_succession, work
from sim.report.workloads import Workload, prepare

RECORDED: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("cycles.json").read_text(encoding="utf-8"))
"""Cycles by workload and latency of memory, as docs/performance.md has them."""
WORSE = 1.03
LONG = "mandelbrot 256 x 256"
MOST_CYCLES, USUAL = 200_000, "50"
MOST_IDLE = 60


def quick() -> Iterator[tuple[str, str]]:
    """What is soon simulated: everything that is short, and of the rest the usual latency."""
    for name, cycles in RECORDED.items():
        for latency, count in cycles.items():
            if count < MOST_CYCLES or (latency == USUAL and name != LONG):
                yield name, latency


def listed() -> dict[str, Workload]:
    """What the benchmark runs, and a part of what takes long there."""
    return dict(work()) | {"mandelbrot 64 x 64": workloads.mandelbrot(64)}


@pytest.mark.parametrize(("name", "latency"), list(quick()))
def test_cycles_are_as_few_as_they_were(name: str, latency: str) -> None:
    prepared = prepare(listed()[name], "rtl", with_settings(DEFAULT, {"memory.latency": int(latency)}))
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    assert prepared.cycles <= WORSE * RECORDED[name][latency], "slower than docs/performance.md says"


def test_everything_in_the_benchmark_is_recorded() -> None:
    assert set(listed()) == set(RECORDED)
    assert all(set(cycles) == set(map(str, LATENCIES)) for cycles in RECORDED.values())


def test_programs_follow_each_other_closely() -> None:
    assert measure_succession("rtl", DEFAULT).idle <= MOST_IDLE
