"""Two cores of one dispatcher: programs leave memory as the golden model does, with any assignment of wavefronts.

It takes a minute and a half to compile; `tb/compiled/test_uncore.py` compares a machine of two cores every day.
"""

from dataclasses import replace

import pytest

from ctm.rtl.config import DEFAULT, ArrayConfig
from ctm.tb.r5xx.array_as_core import ArrayAsCore, as_one_core
from ctm.tb.r5xx.golden_record import record
from ctm.tb.r5xx.random_cases import random_case
from ctm.tb.r5xx.simulation.simulation import CoreSimulation, Timing

CONFIG = replace(DEFAULT, array=ArrayConfig(cores=2, threads=4, temporaries=256))
PROGRAMS = 60
MOST_CYCLES = 1_000_000


@pytest.fixture(scope="module")
def simulation() -> CoreSimulation:
    return CoreSimulation(as_one_core(CONFIG), ArrayAsCore(CONFIG))


def test_it_can_be_built() -> None:
    # The other tests are not run every day.
    ArrayAsCore(CONFIG).elaborate(None)


@pytest.mark.long
@pytest.mark.parametrize(
    "timing", [Timing(latency=20), Timing(latency=5, jitter=60, stall=0.3)], ids=["plain", "stalls"]
)
def test_random_programs(simulation: CoreSimulation, timing: Timing) -> None:
    for seed in range(PROGRAMS):
        case = random_case(seed, lanes=CONFIG.array.lanes)
        run = simulation.run(*case.launch(), timing=replace(timing, seed=seed), max_cycles=MOST_CYCLES)
        launch, wavefronts = case.launch()
        expected = record(launch, wavefronts)
        assert run.difference(launch.memory) is None, seed
        for fault in run.faults:
            assert (fault.status, fault.pc) == expected.wavefronts[fault.i, fault.j].fault, seed
        assert bool(run.faults) == any(wavefront.fault for wavefront in expected.wavefronts.values()), seed
