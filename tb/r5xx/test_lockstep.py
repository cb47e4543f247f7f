"""Random programs on the core, compared with the golden model after every instruction of every wavefront."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from ctm.rtl.config import DEFAULT, ArrayConfig, PipelineConfig
from ctm.tb.r5xx.core_engine import simulation
from ctm.tb.r5xx.coverage import Coverage
from ctm.tb.r5xx.golden_record import record
from ctm.tb.r5xx.lockstep import PROGRAMS, TIMINGS, check_cases
from ctm.tb.r5xx.random_cases import random_case

LONG_PROGRAMS = 1700
LEAST = 20
CONFIGS = {
    "default": DEFAULT,
    "eight lanes": replace(
        DEFAULT,
        array=ArrayConfig(lanes=8, threads=4, temporaries=256, lookups=2),
        arithmetic=PipelineConfig(operands=0, rounding=0),
        presubtract=PipelineConfig(operands=0, alignment=0, addition=0, normalisation=0, rounding=0, result=0),
    ),
    "one wave slot": replace(
        DEFAULT,
        array=ArrayConfig(lanes=4, threads=4, temporaries=128, lookups=4),
        arithmetic=PipelineConfig(addition=0),
        presubtract=PipelineConfig(rounding=0),
    ),
}


ORDINARY = [pytest.param(name, marks=() if name == "default" else pytest.mark.long) for name in CONFIGS]
"""Each configuration takes a minute to compile; one of them is enough for every day."""


@pytest.mark.parametrize("name", ORDINARY)
def test_every_instruction_does_what_the_model_says(name: str) -> None:
    check_cases(simulation(CONFIGS[name]), range(PROGRAMS), TIMINGS)


@pytest.mark.long
@pytest.mark.parametrize("name", CONFIGS)
def test_many_more_programs(name: str) -> None:
    check_cases(simulation(CONFIGS[name]), range(PROGRAMS, LONG_PROGRAMS), TIMINGS)


@pytest.mark.parametrize("name", ORDINARY)
def test_wavefronts_take_wave_slots_whose_last_outputs_are_not_sent(name: str) -> None:
    """Which is what the comparisons above are to try."""
    core, early = simulation(CONFIGS[name]), 0
    for seed in range(PROGRAMS // 4):
        case = random_case(seed, lanes=core.config.array.lanes)
        run = core.run(*case.launch(), timing=TIMINGS[-1], max_cycles=1_000_000, trace=True)
        starts, ends = run.events("start"), run.events("end")
        events = [(cycle, 0, int(bank)) for cycle, bank in zip(ends["cycle"].tolist(), ends["context"], strict=True)]
        events += [
            (cycle, 1, int(bank)) for cycle, bank in zip(starts["cycle"].tolist(), starts["context"], strict=True)
        ]
        banks: set[int] = set()
        for _, starting, bank in sorted(events):
            early += starting and bank ^ core.config.array.threads in banks
            (banks.add if starting else banks.remove)(bank)
    assert early > LEAST


@cache
def executed(lanes: int) -> tuple[Coverage, dict[int, list[Any]]]:
    """What the programs for so many lanes do on the golden model, and hazards by seed."""
    coverage, hazards = Coverage(), {}
    for seed in range(PROGRAMS):
        launch, wavefronts = random_case(seed, lanes=lanes).launch()
        found = record(launch, wavefronts)
        coverage.add(launch, found)
        if found.hazards:
            hazards[seed] = found.hazards
    return coverage, hazards


@pytest.mark.slow
def test_the_programs_try_everything() -> None:
    coverage = Coverage()
    for config in CONFIGS.values():
        coverage.counts += executed(config.array.lanes)[0].counts
    Console().print(coverage.table())
    assert coverage.rare(LEAST) == {}


def test_programs_obey_the_rules_of_synchronisation() -> None:
    assert executed(DEFAULT.array.lanes)[1] == {}
