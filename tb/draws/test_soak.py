"""Random work with R700 draws: compiled hardware and golden model agree in errors and in all of memory."""

import numpy as np
import pytest

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.tb.draws.scene import Scene
from ctm.tb.draws.soak import R700_DRAWS, batches
from ctm.tb.lib.machines import machine
from ctm.tb.soak.comparison import Comparison, Outcome
from ctm.tb.soak.work import draw_work

CONFIG = machine("draws")
_RUNS, _LONG_RUNS, _BATCH = 5, 5000, 250
_QUEUED = range(20_000, 20_004)


def check(seeds: range, config: MachineConfig) -> list[Outcome]:
    """Run the work of seeds; how buffers ended."""
    return [outcome for seed in seeds for outcome in Comparison(draw_work(seed, R700_DRAWS), config).run()]


@pytest.mark.slow
def test_random_work_leaves_the_same_errors_and_the_same_memory() -> None:
    check(range(_RUNS), CONFIG)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, _LONG_RUNS, _BATCH))
def test_much_random_work_reaches_many_errors(first: int) -> None:
    outcomes = check(range(_RUNS + first, _RUNS + first + _BATCH), CONFIG)
    assert {Status.OK, Status.BAD_DRAW, Status.WATCHDOG, Status.BUS_ERROR} <= {outcome.status for outcome in outcomes}
    assert BusClient.INPUT in {outcome.client for outcome in outcomes}


@pytest.mark.parametrize("seed", [_QUEUED[0], *(pytest.param(seed, marks=pytest.mark.long) for seed in _QUEUED[1:])])
def test_buffers_that_wait_in_the_queue_run_in_order(seed: int) -> None:
    Comparison(draw_work(seed, R700_DRAWS), CONFIG).run_queued()


def test_batches_are_the_hardwares() -> None:
    """What a work may expect of a scene: batches, vertices that they shade, vertices of the model."""
    vertices = np.zeros((130, 8))
    assert batches(Scene(vertices=vertices[:60], draw={"primitive": "TRILIST"})) == (1, 60, 60)
    assert batches(Scene(vertices=vertices[:129], draw={"primitive": "TRILIST"})) == (3, 129, 129)
    assert batches(Scene(vertices=vertices[:20], draw={"primitive": "TRIFAN"})) == (1, 21, 20)
    assert batches(Scene(vertices=vertices[:20], draw={"primitive": "TRISTRIP", "instances": 3})) == (3, 60, 60)
    listed = np.array([*range(18), 0, 1, 2], np.uint16)
    assert batches(Scene(vertices=vertices[:18], indices=listed, draw={"primitive": "TRILIST"})) == (1, 21, 18)
