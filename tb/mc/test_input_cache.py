"""The first level of the input cache, compiled, against reads of the golden model and a reference of its tags."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.mc.inputs.core_cache import InputCache
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory
from ctm.tb.mc.cache_simulation import CacheRun, CacheSimulation, Timing
from ctm.tb.mc.lookups import BASE, LINE, TAG_BITS, Lookups, ReferenceCache, filled, random_lookups, row_of_pairs, tag

LANES = 4
LATENCY = 7
SMALLEST = (CacheConfig(sets=1, ways=1), 1)
DIRECT = (CacheConfig(sets=2, ways=1), 4)
SMALL = (CacheConfig(sets=4, ways=2), 8)
DEFAULT = (CacheConfig(sets=32, ways=4), 64)
CONFIGS = {"smallest": SMALLEST, "direct": DIRECT, "small": SMALL, "default": DEFAULT}

IDEAL = Timing()
TIMINGS = {
    "ideal": IDEAL,
    "far": Timing(latency=50),
    "uneven": Timing(latency=3, jitter=40),
    "some_stalls": Timing(latency=10, jitter=10, stall=0.3, seed=1),
    "many_stalls": Timing(latency=2, jitter=3, stall=0.8, seed=2),
}


@cache
def compiled(name: str, lanes: int = LANES) -> CacheSimulation:
    config, outstanding = CONFIGS[name]
    return CacheSimulation(
        InputCache(config, lanes=lanes, tag=TAG_BITS, outstanding=outstanding), outstanding=outstanding
    )


def new(name: str, lanes: int = LANES) -> CacheSimulation:
    """A cache in which there is nothing."""
    simulation = compiled(name, lanes)
    simulation.renew()
    return simulation


def run(
    simulation: CacheSimulation, memory: Memory, lookups: Lookups, *, timing: Timing = IDEAL, **options: Any
) -> CacheRun:
    return simulation.run(memory, [lookups.payloads()], inputs=lookups.inputs(), timing=timing, **options)


def answers(result: CacheRun, lanes: int = LANES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tags [n], words [n, lanes, channels] and refusals [n]."""
    rows = result.clients[0].responses
    return rows[:, 0], rows[:, 1:-1].reshape(-1, lanes, CHANNELS), rows[:, -1].astype(bool)


def check(result: CacheRun, memory: Memory, lookups: Lookups, error: np.ndarray | bool = False) -> None:
    """All answers are those of the golden model, in order, and those and only those refused that should be."""
    tags, words, had_error = answers(result, lookups.lanes)
    np.testing.assert_array_equal(tags, [tag(number) for number in range(len(lookups))])
    np.testing.assert_array_equal(had_error, np.broadcast_to(error, had_error.shape))
    expected = lookups.words(memory)
    wrong = np.argwhere((words != expected) & lookups.fetch[..., None] & ~had_error[:, None, None])
    if wrong.size:
        number, lane, channel = wrong[0]
        raise AssertionError(
            f"lookup {number}, lane {lane}, channel {channel}: {words[number, lane, channel]:08x}, not "
            f"{expected[number, lane, channel]:08x}; {lookups.buffers[lookups.input[number]]} at "
            f"({lookups.x[number, lane]}, {lookups.y[number, lane]})"
        )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_random_lookups(name, timing, seed):
    memory, lookups = random_lookups(seed, 3000, LANES)
    reference = ReferenceCache(CONFIGS[name][0])
    result = run(new(name), memory, lookups, timing=TIMINGS[timing])
    check(result, memory, lookups)
    assert result.lines.tolist() == reference.requests(lookups)
    assert (result.hits, result.misses) == (reference.hits, reference.misses)
    assert reference.hits > 100 and reference.misses > 100


@pytest.mark.long
@pytest.mark.parametrize(("name", "lanes"), [("direct", 8), ("default", 16)])
def test_random_lookups_of_wider_wavefronts(name, lanes):
    memory, lookups = random_lookups(lanes, 3000, lanes)
    result = run(new(name, lanes), memory, lookups, timing=TIMINGS["some_stalls"])
    check(result, memory, lookups)
    assert result.lines.tolist() == ReferenceCache(CONFIGS[name][0]).requests(lookups)


def test_wavefronts_in_one_line_are_answered_in_each_cycle():
    memory, lookups, simulation = filled(), row_of_pairs(200, 4), new("default")
    run(simulation, memory, lookups)
    result = run(simulation, memory, lookups)
    check(result, memory, lookups)
    only = result.clients[0]
    np.testing.assert_array_equal(only.taken, np.arange(200))
    np.testing.assert_array_equal(only.offered, np.arange(200) + LATENCY)
    assert (result.hits, result.misses) == (200, 0)


def test_a_wavefront_takes_a_cycle_for_each_of_its_lines():
    # Lanes in different rows are in different lines.
    lookups = row_of_pairs(100, 1)
    lookups.buffers[0] = Buffer(base=BASE, pitch=128, height=4, format=DataFormat.FLOAT32_1)
    lookups.y[:] = np.arange(LANES)
    memory, simulation = filled(), new("default")
    run(simulation, memory, lookups)
    result = run(simulation, memory, lookups)
    check(result, memory, lookups)
    np.testing.assert_array_equal(result.clients[0].offered, np.arange(100) * LANES + LATENCY + LANES - 1)


@pytest.mark.parametrize("tiling", [Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2])
def test_a_2x2_lookup_in_one_line_takes_one_cycle(tiling):
    lookups = row_of_pairs(50, 0)
    lookups.buffers[0] = Buffer(base=BASE, pitch=128, height=1, format=DataFormat.UINT16_1, tiling=tiling)
    lookups.x[:] = 8
    memory, simulation = filled(), new("default")
    run(simulation, memory, lookups)
    result = run(simulation, memory, lookups)
    check(result, memory, lookups)
    np.testing.assert_array_equal(result.clients[0].offered, np.arange(50) + LATENCY)


@pytest.mark.parametrize("latency", [1, 2, 30])
def test_a_miss_takes_seven_cycles_more_than_memory(latency):
    memory, lookups = filled(), row_of_pairs(1, 4)
    result = run(new("default"), memory, lookups, timing=Timing(latency=latency))
    check(result, memory, lookups)
    assert result.clients[0].offered[0] == 3 + latency + 4


def test_a_line_under_way_is_asked_for_once():
    memory, lookups = filled(), row_of_pairs(60, 0)
    result = run(new("default"), memory, lookups, timing=Timing(latency=100))
    check(result, memory, lookups)
    assert (len(result.lines), result.hits, result.misses) == (1, 59, 1)


@pytest.mark.parametrize("name", CONFIGS)
def test_as_many_lines_are_under_way_as_may_be(name):
    memory, lookups = filled(), row_of_pairs(200, 16)
    result = run(new(name), memory, lookups, timing=Timing(latency=200))
    check(result, memory, lookups)
    assert result.most_under_way == CONFIGS[name][1]


def test_missing_lines_come_in_each_cycle():
    memory, lookups = filled(), row_of_pairs(200, 16)
    result = run(new("default"), memory, lookups, timing=Timing(latency=40))
    check(result, memory, lookups)
    np.testing.assert_array_equal(np.diff(result.clients[0].offered), 1)


def test_lines_stay_until_they_are_invalidated():
    old, changed, lookups = filled(1), filled(2), row_of_pairs(100, 4)
    simulation = new("default")
    for memory, seen, invalidates in ((old, old, False), (changed, old, False), (changed, changed, True)):
        check(run(simulation, memory, lookups, invalidates=invalidates), seen, lookups)


@pytest.mark.parametrize("name", CONFIGS)
def test_uncached_lookups_go_past_the_cache(name):
    old, changed, simulation = filled(1), filled(2), new(name)
    cached, uncached = row_of_pairs(20, 0), row_of_pairs(20, 0, uncached=True)
    check(run(simulation, old, cached), old, cached)
    for memory in (changed, filled(3)):
        result = run(simulation, memory, uncached)
        check(result, memory, uncached)
        assert result.lines.tolist() == 20 * [BASE // LINE << 1 | 1]
        assert (result.hits, result.misses) == (0, 0)
    check(run(simulation, changed, cached), old, cached)


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_fetches_of_lines_with_an_error_have_an_error(name, timing):
    memory, lookups = random_lookups(7, 3000, LANES)
    lines = np.where(lookups.addresses() >= 0, lookups.addresses() // LINE, -1)
    # A fifth of the lines that are read.
    chosen = [int(line) for line in np.unique(lines[lines >= 0])[::5]]
    expected = np.isin(lines, chosen).any(axis=(1, 2))
    assert 200 < expected.sum() < 2800
    simulation, ranges = new(name), [(line, line + 1) for line in chosen]
    for _ in range(2):
        check(run(simulation, memory, lookups, timing=TIMINGS[timing], error_lines=ranges), memory, lookups, expected)
    # Nothing of it stays.
    check(run(simulation, memory, lookups, timing=TIMINGS[timing]), memory, lookups)


def test_a_line_with_an_error_is_requested_again():
    memory, lookups, simulation = filled(), row_of_pairs(1, 0), new("default")
    line = BASE // LINE
    for _ in range(2):
        result = run(simulation, memory, lookups, error_lines=[(line, line + 1)])
        check(result, memory, lookups, True)
        assert result.lines.tolist() == [line << 1]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_reset_leaves_nothing_behind(name):
    simulation, reference = new(name), ReferenceCache(CONFIGS[name][0])
    for seed in range(3):
        memory, lookups = random_lookups(seed, 1000, LANES)
        result = run(simulation, memory, lookups)
        check(result, memory, lookups)
        assert result.lines.tolist() == reference.requests(lookups)
        simulation.reset()
        # Lines are forgotten, turns are not.
        reference.invalidate()
