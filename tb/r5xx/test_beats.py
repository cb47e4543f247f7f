"""Cores that compute fewer pixels in a cycle than a wavefront has: everything is as in the golden model."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import TINY, MachineConfig, with_settings
from ctm.sim.engines.choice import ENGINES
from ctm.tb.r5xx.core_engine import CoreEngine, simulation
from ctm.tb.r5xx.lockstep import PROGRAMS, TIMINGS, check_cases
from ctm.tb.r5xx.random_cases import random_case
from ctm.tb.r5xx.shaders import NAMES, Shader, run

LONG_PROGRAMS = 1000
EARLIEST = 20
SETTINGS: dict[str, dict[str, int | str]] = {
    "one lane of four": {"array.rate": 1},
    "two lanes of four": {"array.rate": 2},
    "one lane of eight, short pipelines": {
        "array.lanes": 8,
        "array.rate": 1,
        "array.temporaries": 256,
        "array.lookups": 2,
        "arithmetic.operands": 0,
        "arithmetic.rounding": 0,
        **{f"presubtract.{step}": 0 for step in ("operands", "alignment", "addition", "normalisation", "rounding")},
    },
    "four lanes of eight, no register in the presubtract unit": {
        "array.lanes": 8,
        "array.rate": 4,
        **{f"presubtract.{step}": 0 for step in vars(TINY.presubtract)},
    },
    "one lane of sixteen": {"array.lanes": 16, "array.rate": 1},
}
CONFIGS: dict[str, MachineConfig] = {name: with_settings(TINY, settings) for name, settings in SETTINGS.items()}
SMALLEST = next(iter(CONFIGS))
pytestmark = pytest.mark.long
"""Each configuration takes a minute to compile. In the ordinary suite whole machines have beats."""


@pytest.fixture(autouse=True)
def core_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "core", CoreEngine)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_instruction_does_what_the_model_says(name: str) -> None:
    check_cases(simulation(CONFIGS[name]), range(PROGRAMS), TIMINGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_many_more_programs(name: str) -> None:
    check_cases(simulation(CONFIGS[name]), range(PROGRAMS, LONG_PROGRAMS), TIMINGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_compiled_programs_are_as_in_the_golden_model(name: str) -> None:
    config = CONFIGS[name]
    for program in NAMES:
        shader = Shader.load(program)
        width, height = shader.grid
        for domain in ((0, 0, width - 1, height - 1), (1, 1, width - 2, height - 2)):
            pair: Any = (run(shader, domain=domain, config=config, engine=engine) for engine in ("golden", "core"))
            expected, found = pair
            for bits, right in zip(found.bits, expected.bits, strict=True):
                np.testing.assert_array_equal(bits, right, err_msg=program)


def test_an_instruction_is_issued_once_in_as_many_cycles_as_a_wavefront_has_beats() -> None:
    """And the lanes are never idle between the beats of one."""
    core = simulation(CONFIGS[SMALLEST])
    beats, found = core.config.array.beats, []
    for seed in range(EARLIEST):
        case = random_case(seed, lanes=core.config.array.lanes)
        run_ = core.run(*case.launch(), timing=TIMINGS[0], max_cycles=1_000_000, trace=True)
        found.append(np.diff(np.sort(run_.events("alu")["cycle"].astype(np.int64))))
    distances = np.concatenate(found)
    assert distances.min() == beats == 4
