"""Random programs, random flow control, and random command buffers end as on the golden model."""

from collections.abc import Callable
from itertools import product

import pytest

from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.program import FallBackError
from ctm.sim.engines.fast.r5xx.preparation import prepare
from ctm.tb.fast.comparison import Task, check, machine
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.some import fewer
from ctm.tb.r5xx.programs.flow import random_flow_case
from ctm.tb.r5xx.random_cases import Case, random_case
from ctm.tb.soak.work import draw_work

GROUPS = (16, 8, 4)
MACHINES = list(product(GROUPS, HOSTS.values()))
"""Pixels of a wavefront, and hosts; if it is wider than the host's vectors, they are as wide as the wavefront."""
TOGETHER = (0, 3, 4, 5, 9, 13, 15, 19, 29, 31, 32, 37, 39, 46, 52, 64)
"""Seeds of random flow control that several groups of a vector go through together."""
LONG = 300
OF_WORK = fewer(10)
"""Seeds of random work that are one test."""


@pytest.mark.parametrize("seed", seeds(12, LONG))
def test_random_programs(seed: int) -> None:
    group, host = MACHINES[seed % len(MACHINES)]
    check(Task.of_case(random_case(seed, lanes=group)), host)


@pytest.mark.parametrize("seed", TOGETHER)
def test_random_flow_control_of_groups_in_one_vector(seed: int) -> None:
    width = 8 if seed % 4 == 0 else 16
    case = random_flow_case(seed, lanes=4)
    assert prepare(case.launch()[0], Host.this(width)).frame.wavefronts >= width // 4
    check(Task.of_case(case), Host.this(width))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, LONG))
def test_random_flow_control(seed: int) -> None:
    """Of all kinds: for most a vector is one group."""
    for group in GROUPS:
        check(Task.of_case(random_flow_case(seed, lanes=group)), Host.this(16))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_a_program_on_every_machine(seed: int) -> None:
    for group, host in MACHINES:
        for draw in (random_case, random_flow_case):
            check(Task.of_case(draw(seed, lanes=group)), host)


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in range(OF_WORK, 2000, OF_WORK))]
)
def test_random_command_buffers(first: int) -> None:
    for seed in range(first, first + OF_WORK):
        group, host = MACHINES[seed % len(MACHINES)]
        check(Task.of_work(draw_work(seed), machine(group)), host)


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "least"), [(random_case, 0.9), (random_flow_case, 0.8)])
def test_most_random_programs_are_compiled(draw: Callable[..., Case], least: float) -> None:
    compiled = 0
    for seed in range(60):
        launch, _ = draw(seed, lanes=4).launch()
        try:
            prepare(launch, Host.this(16))
        except FallBackError:
            continue
        compiled += 1
    assert compiled >= 60 * least
