"""Occupancy: as many wave slots may be used as there is space for wavefronts, whatever programs come and when."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.occupancy import Occupancy
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.streams import simulate

CLAUSE_TEMPORARIES, SUBENTRIES, SHARE_ROWS = 4, 4, 256
"""Registers that each wavefront has besides the program's; entries of a stack's entry; rows of the data share."""
PROGRAMS = 60
MACHINES = [
    {"lanes": 4, "wavefront": 16, "temporaries": 2048},
    {"lanes": 4, "wavefront": 16, "rate": 1, "threads": 4, "temporaries": 512, "stack_entries": 64},
    {"lanes": 16, "wavefront": 64, "temporaries": 1024},
]


def capacity_for(config: ArrayConfig, gprs: int, stack: int, share: int) -> int:
    """Wavefronts that fit, at most as many as there are wave slots."""
    passes = config.wavefront // config.lanes
    rooms = (
        config.temporaries // ((gprs + CLAUSE_TEMPORARIES) * passes),
        config.stack_entries * SUBENTRIES // stack if stack else config.threads,
        SHARE_ROWS // share if share else config.threads,
    )
    return min(*rooms, config.threads)


def check(settings: dict[str, int], seed: int, programs: int) -> None:
    """Programs of random sizes, one after the other."""
    config = r700_array(**settings)
    unit: Any = Occupancy(config)
    draw = np.random.default_rng(seed)
    found = set()

    async def run(context: Any) -> None:
        for _ in range(programs):
            gprs = int(draw.choice([draw.integers(1, 124), draw.integers(1, 20)]))
            stack, share = (int(draw.choice([0, int(draw.integers(257)), int(draw.integers(20))])) for _ in range(2))
            for name, size in (("gprs", gprs), ("stack", stack), ("share", share)):
                context.set(unit.program[name], size)
            capacity = capacity_for(config, gprs, stack, share)
            found.add(capacity)
            # Another program may come before all wave slots are counted.
            cycles = int(draw.choice([1, 3, 40]))
            await context.tick()
            for cycle in range(cycles):
                usable = context.get(unit.usable)
                assert usable in ((1 << waves) - 1 for waves in range(capacity + 1)), (gprs, stack, share)
                assert usable.bit_count() >= min(cycle, capacity), (gprs, stack, share)
                await context.tick()

    simulate(unit, run)
    assert len(found) > 3


def compare() -> None:
    """What the ordinary suite compares."""
    for settings in MACHINES:
        check(settings, 1, PROGRAMS)


def test_as_many_wave_slots_as_fit() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("settings", MACHINES)
def test_many_more_programs(settings: dict[str, int]) -> None:
    check(settings, 2, 5000)
