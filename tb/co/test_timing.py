"""How long the conditional unit takes, and for whom it waits."""

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.sim.golden.co.unit import FORMATS
from ctm.tb.co.bench import CONFIGS, IDEAL, LOCATIONS, TILINGS, TIMINGS, Bench, conditional_unit
from ctm.tb.co.wavefronts import Wavefronts, no_wavefronts, random_values, random_wavefronts
from ctm.tb.lib.some import some
from ctm.tb.mc.cache_simulation import Timing

LATENCY = 9
"""Cycles from a wavefront's request to its response if it has one lane whose line is there."""


def rows_of_wavefronts(count: int, lanes: int, width: int, mask: np.ndarray | bool = True) -> Wavefronts:
    """Wavefronts that go through `width` columns and two rows again and again."""
    i = np.arange(count) * (lanes // 2) % width
    values = random_values(np.random.default_rng(0), (count, lanes))
    return Wavefronts(i=i, j=0 * i, mask=np.broadcast_to(mask, values.shape).copy(), values=values)


@pytest.mark.slow
@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("name", some(("default", "wide"), 2))
def test_a_pair_takes_a_cycle_if_its_line_is_there(name, data_format, tiling, stores):
    bench, count = Bench(name), 200
    unit = conditional_unit(ConditionalTest.GREATER, stores=stores, data_format=data_format, tiling=tiling, height=2)
    bench.fill(unit, np.random.default_rng(1))
    wavefronts = rows_of_wavefronts(count, bench.lanes, 32)
    bench.run(unit, wavefronts)
    result = bench.run(unit, wavefronts, commands=False)
    only = result.clients[LOCATIONS.index(unit.location)]
    pairs = count * bench.lanes
    assert (result.hits, result.misses) == (pairs, 0)
    np.testing.assert_array_equal(only.taken, np.arange(count) * bench.lanes)
    np.testing.assert_array_equal(only.offered, np.arange(count) * bench.lanes + LATENCY + bench.lanes - 1)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [0, 1])
def test_wavefronts_of_at_most_one_lane_follow_in_each_cycle(lanes):
    bench, count = Bench(), 100
    unit = conditional_unit(stores=True)
    wavefronts = rows_of_wavefronts(count, 4, 32, np.arange(4) < lanes)
    bench.run(unit, wavefronts)
    result = bench.run(unit, wavefronts, commands=False)
    np.testing.assert_array_equal(result.clients[0].taken, np.arange(count))
    np.testing.assert_array_equal(result.clients[0].offered, np.arange(count) + LATENCY)


@pytest.mark.parametrize("latency", [1, 2, 30])
def test_a_line_that_is_not_there_takes_a_cycle_more_than_memory(latency):
    bench, unit = Bench(), conditional_unit()
    result = bench.run(unit, rows_of_wavefronts(1, 4, 32, np.arange(4) < 1), timing=Timing(latency=latency))
    begin = int(result.clients[0].taken[0])
    assert int(result.clients[0].offered[0]) - begin == LATENCY + latency + 1


def test_lines_are_prefetched():
    """Rows of a large buffer, each pair once: memory's latency is hidden but for the first line."""
    bench, unit = Bench(), conditional_unit(stores=True, pitch=1024, height=2)
    bench.fill(unit, np.random.default_rng(2))
    count, latency = 512, 16
    result = bench.run(unit, rows_of_wavefronts(count, 4, 1024), timing=Timing(latency=latency))
    cycles = int(result.clients[0].offered[-1] - result.clients[0].taken[0])
    lines = len(result.reads)
    assert (lines, result.misses) == (128, 128)
    # A line that comes, and one that leaves, take a cycle each.
    assert 4 * count < cycles <= 4 * count + 2 * lines + latency + LATENCY


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("test", [ConditionalTest.NEVER, ConditionalTest.ALWAYS])
def test_a_request_that_touches_nothing_gets_its_response_in_the_next_cycle(test, location):
    bench, unit = Bench(), conditional_unit(test, location=location)
    wavefronts = rows_of_wavefronts(50, 4, 32)
    bench.run(unit, no_wavefronts(4))
    result = bench.run(unit, wavefronts, wavefronts, commands=False)
    for client in result.clients:
        np.testing.assert_array_equal(client.taken, np.arange(50))
        np.testing.assert_array_equal(client.offered, np.arange(50) + 1)
    assert result.hits + result.misses == 0


@pytest.mark.parametrize("location", LOCATIONS)
def test_the_other_client_waits_for_nothing(location):
    bench, unit = Bench(), conditional_unit(stores=True, location=location)
    wavefronts = rows_of_wavefronts(50, 4, 32)
    bench.run(unit, no_wavefronts(4))
    result = bench.run(unit, wavefronts, wavefronts, commands=False, timing=Timing(latency=200))
    other = result.clients[1 - LOCATIONS.index(location)]
    np.testing.assert_array_equal(other.offered, np.arange(50) + 1)


@pytest.mark.parametrize("held", LOCATIONS)
@pytest.mark.parametrize("location", LOCATIONS)
def test_a_client_that_takes_no_response_does_not_hold_the_other_one(location, held):
    """All responses of the one are given before the other one takes its first."""
    bench, unit = Bench(), conditional_unit(stores=True, location=location)
    wavefronts, until = rows_of_wavefronts(60, 4, 32), 1500
    result = bench.run(unit, wavefronts, wavefronts, holds=until, held=1 << LOCATIONS.index(held))
    free, waiting = result.clients[1 - LOCATIONS.index(held)], result.clients[LOCATIONS.index(held)]
    assert free.responded[-1] < until <= waiting.responded[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_accesses_continue_while_no_response_is_taken(name):
    """Each pair is in a line of its own, so that as many lines have come as accesses can wait."""
    bench, unit = Bench(name), conditional_unit(stores=True, pitch=1024, height=64)
    bench.fill(unit, np.random.default_rng(3))
    generator = np.random.default_rng(4)
    wavefronts = random_wavefronts(generator, 300, bench.lanes, width=1024, height=64)
    wavefronts.mask[:] = np.arange(bench.lanes) % 2 == 0
    wavefronts.i[:], wavefronts.j[:] = 16 * (np.arange(300) % 60), 2 * (np.arange(300) // 7 % 30)
    for timing in (IDEAL, TIMINGS["uneven"]):
        result = bench.run(unit, wavefronts, timing=timing, holds=400, held=3, flushes=True)
        bench.compare_memory(unit, result)
