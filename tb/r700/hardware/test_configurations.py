"""R700 machines other than the preset leave what the golden model leaves: each is a model of its own to compile."""

import numpy as np
import pytest

from ctm.rtl.config import R700, R700_SMALL, with_settings
from ctm.sim.engines.model import Disturbance
from ctm.tb.r700.hardware.drawn import DRAWN, check
from ctm.tb.r700.hardware.machine import MEMORIES, Settings, compare, engine
from ctm.tb.r700.hardware.machines import MACHINES
from ctm.tb.r700.hardware.own_examples import MODULES, run_examples
from ctm.tb.r700.hardware.random_fetches import draw_job
from ctm.tb.r700.hardware.traced import TracedEngine
from ctm.tb.r700.random_groups import GPRS, draw
from ctm.tb.r700.random_statements import job_of
from ctm.tb.r700.shaders import FILES, Shader, run

pytestmark = pytest.mark.long
_FLOWS, _FETCHES, _GROUPS, _SHOWN, _STEPPED = 60, 60, 40, 4, 100
_SLOW = "one pixel in a cycle, one port", "two pixels in a cycle, two cores"
assert with_settings(R700, MACHINES[_SLOW[0]]) == R700_SMALL
"""Machines whose lanes are fewer than a register's pixels that are read at once; with a trace each is another model."""

machines = pytest.mark.parametrize(
    "settings", [tuple(settings.items()) for settings in MACHINES.values()], ids=MACHINES.keys()
)


@machines
def test_compiled_programs(settings: Settings) -> None:
    config = with_settings(R700, dict(settings))
    for name in FILES:
        shader = Shader.load(name)
        expected, found = run(shader), run(shader, engine="rtl", config=config)
        for one, two in zip(expected.bits, found.bits, strict=True):
            np.testing.assert_array_equal(one, two, name)


@machines
@pytest.mark.parametrize("memory", MEMORIES)
def test_random_control_flow(settings: Settings, memory: tuple[int, float]) -> None:
    for seed in range(_FLOWS):
        compare(job_of(seed)[0], engine(*memory, settings=settings))


@machines
def test_random_groups(settings: Settings) -> None:
    """All registers after clauses of random groups, as many at a time as there are outputs."""
    for seed in range(_GROUPS):
        drawn = draw(seed)
        for first in range(0, GPRS, _SHOWN):
            compare(drawn.job(16, shown=range(first, min(GPRS, first + _SHOWN))), engine(settings=settings))


@machines
@pytest.mark.parametrize("module", MODULES)
def test_examples(settings: Settings, module: str) -> None:
    run_examples(module, settings)


@machines
@pytest.mark.parametrize("memory", MEMORIES)
def test_random_fetches(settings: Settings, memory: tuple[int, float]) -> None:
    for seed in range(_FETCHES):
        compare(draw_job(seed), engine(*memory, settings=settings))


@pytest.mark.parametrize("name", _SLOW)
def test_every_instruction_does_what_the_model_says(name: str) -> None:
    """In lock-step, with memories that respond at once, later, out of step and with stalls."""
    config = with_settings(R700, MACHINES[name])
    memories = Disturbance(), Disturbance(jitter=20, stall=0.3, seed=1), Disturbance(jitter=200, seed=2)
    engines = [TracedEngine(config, memory) for memory in memories]
    for kind in DRAWN:
        check(kind, range(_STEPPED), lambda seed: engines[seed % len(engines)])
