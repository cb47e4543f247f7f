"""A lane, compiled, against the golden model: every operation in every slot, corners and random operands."""

from functools import cache

import numpy as np
import pytest

from ctm.rtl.config import PipelineConfig
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.sim.compiled import CompiledUnit
from ctm.tb.lib.some import fewer, some
from ctm.tb.lib.words import CORNERS
from ctm.tb.r700.lane.batches import (
    byte_batches,
    corner_batches,
    family_batches,
    random_batches,
    reduction_batches,
)
from ctm.tb.r700.lane.decoded_lane import DecodedLane
from ctm.tb.r700.lane.groups import check
from ctm.tb.r700.lane.trans_batches import RECIPROCALS, random_trans, trans_batches

DEEP = PipelineConfig()
SHALLOW = PipelineConfig(operands=0, product=0, alignment=0, addition=0, normalisation=0, rounding=0, result=0)
"""Only the register that a table needs."""
OTHER_TABLE_REGISTER = PipelineConfig(operands=0, partial_products=0, alignment=0, normalisation=0, result=0)
MILLION = 1_000_000

SUMS = ("ADD", "MUL", "MUL_IEEE", "MULADD", "MULADD_IEEE", "MULADD_M2", "MULADD_IEEE_D2", "FRACT", "RNDNE")


@cache
def lane(config: PipelineConfig = DEEP, *, gated: bool = False) -> CompiledUnit:
    """The unit that all tests of a configuration share."""
    return CompiledUnit(DecodedLane(config, gated=gated))


@pytest.mark.slow
def test_all_registers_are_eleven_cycles():
    assert lane().latency == lane_latency(DEEP) == 11
    assert lane_latency(SHALLOW) == 2


@pytest.mark.slow
def test_corners():
    check(lane(), list(corner_batches(CORNERS[::2])))


@pytest.mark.slow
def test_all_pairs_of_bytes():
    check(lane(), list(byte_batches()))


@pytest.mark.slow
def test_random_groups():
    check(lane(), list(random_batches(fewer(600), 500, 1)))


@pytest.mark.slow
def test_reductions():
    check(lane(), list(reduction_batches(fewer(50_000), 2)))


@pytest.mark.slow
@pytest.mark.parametrize("name", some(SUMS, 3))
def test_sums(name):
    """A million operands, since each slot has its own."""
    check(lane(), list(family_batches([name], MILLION // 5, 3)))


@pytest.mark.slow
def test_trans():
    check(lane(), random_trans(50_000, 4))


@pytest.mark.slow
def test_reciprocals_of_small_integers():
    words = np.arange(1 << 16, dtype=np.uint32)
    check(lane(), list(trans_batches(RECIPROCALS, words, words)))
    check(lane(), list(trans_batches(RECIPROCALS, -words, words)))


@pytest.mark.long
@pytest.mark.parametrize("config", [SHALLOW, OTHER_TABLE_REGISTER], ids=["a single register", "some registers"])
def test_fewer_registers(config):
    check(lane(config), list(random_batches(300, 500, 5)))
    check(lane(config), random_trans(20_000, 6))


@pytest.mark.long
def test_gated_units():
    check(lane(gated=True), list(random_batches(3000, 5, 7)))
    check(lane(gated=True), list(reduction_batches(10_000, 8)))
    check(lane(gated=True), random_trans(20_000, 9))


@pytest.mark.long
def test_many_random_groups():
    for seed in range(100, 120):
        check(lane(), list(random_batches(1000, 1000, seed)))


@pytest.mark.long
@pytest.mark.parametrize("name", ["MULADD", "MULADD_IEEE"])
def test_ten_million_unfused_sums(name):
    for seed in range(200, 210):
        check(lane(), list(family_batches([name], MILLION // 5, seed)))


@pytest.mark.long
def test_all_corners_of_three_operands():
    for batch in corner_batches(CORNERS):
        check(lane(), [batch])


@pytest.mark.long
def test_many_trans():
    for seed in range(300, 305):
        check(lane(), random_trans(MILLION // 5, seed))


@pytest.mark.long
def test_reciprocals_of_all_significands():
    """Every estimate that the table gives, and all integers below 2^24."""
    for first in range(0, 1 << 24, MILLION):
        words = np.arange(first, min(first + MILLION, 1 << 24), dtype=np.uint32)
        check(lane(), list(trans_batches(["RECIP_UINT"], words, words)))
