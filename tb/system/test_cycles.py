"""The hardware's cycles are those that documents say. They are the same on every computer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctm.rtl.config import DEFAULT, DEFAULT_PRESETS, PRESETS, MachineConfig, with_settings
from ctm.sim.report import workloads
from ctm.sim.report.cycles import LATENCIES, as_fields, measure_all, measure_succession, work
from ctm.sim.report.workloads import Workload, prepare
from ctm.tb.lib.machines import BEATS

RECORDED: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("cycles.json").read_text(encoding="utf-8"))
"""Cycles by workload and latency of memory: those of docs/performance.md, and of a section of its longest workload."""
ON_FOUR_CORES = 38_157
"""Of matmul 128 at the usual latency."""
MEASURE_ANEW = "if that is right: python -m scripts.recorded_cycles, and docs/performance.md"
MOST_IDLE, MOST_IDLE_OF_ONE_LANE = 60, 103


def cases() -> Iterator[tuple[str, str]]:
    """Everything."""
    for name, cycles in RECORDED.items():
        yield from ((name, latency) for latency in cycles)


def listed() -> dict[str, Workload]:
    """What the benchmark runs, and a section of its long workloads."""
    return dict(work()) | {"mandelbrot 64 x 64": workloads.mandelbrot(64)}


ON_ONE_LANE = {"saxpy 128 x 128 x vec4": 105_041, "matmul 64": 100_497}
"""Cycles of the machine of the ordinary suite, at the usual latency."""


@pytest.mark.parametrize("name", ON_ONE_LANE)
def test_cycles_of_one_lane_are_what_they_were(name: str) -> None:
    prepared = prepare(listed()[name], "rtl", BEATS)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    assert prepared.cycles == ON_ONE_LANE[name]


@pytest.mark.long
@pytest.mark.parametrize(("name", "latency"), list(cases()))
def test_cycles_are_those_that_are_recorded(name: str, latency: str) -> None:
    workload = listed()[name]
    config = with_settings(PRESETS[DEFAULT_PRESETS[workload.kind]], {"memory.latency": int(latency)})
    prepared = prepare(workload, "rtl", config)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    assert prepared.cycles == RECORDED[name][latency], MEASURE_ANEW


@pytest.mark.long
def test_four_cores_share_the_work() -> None:
    prepared = prepare(workloads.matmul(128), "rtl", with_settings(DEFAULT, {"array.cores": 4}))
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    assert prepared.cycles == ON_FOUR_CORES


def test_everything_in_the_benchmark_is_recorded() -> None:
    assert set(listed()) == set(RECORDED)
    assert all(set(cycles) == set(map(str, LATENCIES)) for cycles in RECORDED.values())


@pytest.mark.parametrize(
    ("config", "most"), [(BEATS, MOST_IDLE_OF_ONE_LANE), pytest.param(DEFAULT, MOST_IDLE, marks=pytest.mark.long)]
)
def test_programs_follow_each_other_closely(config: MachineConfig, most: int) -> None:
    found = measure_succession("rtl", config)
    assert found is not None and found.idle <= most


@pytest.mark.parametrize("preset", ["small", "r700-small"])
def test_a_preset_is_given_the_work_of_its_instruction_set(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def name_and_latency(name: str, workload: Workload, engine: str, config: Any) -> tuple[str, int]:
        return name, config.memory.latency

    monkeypatch.setattr("ctm.sim.report.cycles.measure_cycles", name_and_latency)
    config = PRESETS[preset]
    found: list[Any] = list(measure_all("rtl", dict.fromkeys(DEFAULT_PRESETS, config), lambda text: None))
    kind = config.array.instruction_set
    wanted = [(name, latency) for name, workload in work() if workload.kind == kind for latency in LATENCIES]
    assert found == wanted and wanted
    if kind == "r700":
        assert measure_succession("rtl", config) is None
        assert as_fields([], None) == {"cycles": [], "succession": None}
