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
from ctm.tb.lib.some import only
from ctm.tb.mc.cache_simulation import CacheRun, CacheSimulation, Timing
from ctm.tb.mc.fetches import BASE, LINE, TAG_BITS, Fetches, ReferenceCache, filled, random_fetches, row_of_pairs, tag

LANES = 4
LATENCY = 8
SMALLEST = (CacheConfig(sets=1, ways=1), 1)
DIRECT = (CacheConfig(sets=2, ways=1), 4)
SMALL = (CacheConfig(sets=4, ways=2), 8)
DEFAULT = (CacheConfig(sets=32, ways=4), 64)
CONFIGS = {"smallest": SMALLEST, "direct": DIRECT, "small": SMALL, "default": DEFAULT}
ON_CONFIGS = pytest.mark.parametrize("name", only(CONFIGS, ("default",)))
"""Each takes a model."""

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
    simulation: CacheSimulation, memory: Memory, fetches: Fetches, *, timing: Timing = IDEAL, **options: Any
) -> CacheRun:
    return simulation.run(memory, [fetches.payloads()], inputs=fetches.inputs(), timing=timing, **options)


def responses(result: CacheRun, lanes: int = LANES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tags [n], words [n, lanes, channels] and errors [n]."""
    rows = result.clients[0].responses
    return rows[:, 0], rows[:, 1:-1].reshape(-1, lanes, CHANNELS), rows[:, -1].astype(bool)


def check(result: CacheRun, memory: Memory, fetches: Fetches, error: np.ndarray | bool = False) -> None:
    """All responses are those of the golden model, in order; those of `error`, and no others, have errors."""
    tags, words, had_error = responses(result, fetches.lanes)
    np.testing.assert_array_equal(tags, [tag(number) for number in range(len(fetches))])
    np.testing.assert_array_equal(had_error, np.broadcast_to(error, had_error.shape))
    expected = fetches.words(memory)
    wrong = np.argwhere((words != expected) & fetches.fetch[..., None] & ~had_error[:, None, None])
    if wrong.size:
        number, lane, channel = wrong[0]
        raise AssertionError(
            f"fetch {number}, lane {lane}, channel {channel}: {words[number, lane, channel]:08x}, not "
            f"{expected[number, lane, channel]:08x}; {fetches.buffers[fetches.input[number]]} at "
            f"({fetches.x[number, lane]}, {fetches.y[number, lane]})"
        )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.parametrize("timing", TIMINGS)
@ON_CONFIGS
def test_random_fetches(name, timing, seed):
    memory, fetches = random_fetches(seed, 3000, LANES)
    reference = ReferenceCache(CONFIGS[name][0])
    result = run(new(name), memory, fetches, timing=TIMINGS[timing])
    check(result, memory, fetches)
    assert result.lines.tolist() == reference.requests(fetches)
    assert (result.hits, result.misses) == (reference.hits, reference.misses)
    assert reference.hits > 100 and reference.misses > 100


@pytest.mark.long
@pytest.mark.parametrize(("name", "lanes"), [("direct", 8), ("default", 16)])
def test_random_fetches_of_wider_wavefronts(name, lanes):
    memory, fetches = random_fetches(lanes, 3000, lanes)
    result = run(new(name, lanes), memory, fetches, timing=TIMINGS["some_stalls"])
    check(result, memory, fetches)
    assert result.lines.tolist() == ReferenceCache(CONFIGS[name][0]).requests(fetches)


def test_wavefronts_in_one_line_get_a_response_in_each_cycle():
    memory, fetches, simulation = filled(), row_of_pairs(200, 4), new("default")
    run(simulation, memory, fetches)
    result = run(simulation, memory, fetches)
    check(result, memory, fetches)
    only = result.clients[0]
    np.testing.assert_array_equal(only.taken, np.arange(200))
    np.testing.assert_array_equal(only.offered, np.arange(200) + LATENCY)
    assert (result.hits, result.misses) == (200, 0)


def test_a_wavefront_takes_a_cycle_for_each_of_its_lines():
    # Lanes in different rows are in different lines.
    fetches = row_of_pairs(100, 1)
    fetches.buffers[0] = Buffer(base=BASE, pitch=128, height=4, format=DataFormat.FLOAT32_1)
    fetches.y[:] = np.arange(LANES)
    memory, simulation = filled(), new("default")
    run(simulation, memory, fetches)
    result = run(simulation, memory, fetches)
    check(result, memory, fetches)
    np.testing.assert_array_equal(result.clients[0].offered, np.arange(100) * LANES + LATENCY + LANES - 1)


@pytest.mark.parametrize("tiling", [Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2])
def test_a_2x2_fetch_in_one_line_takes_one_cycle(tiling):
    fetches = row_of_pairs(50, 0)
    fetches.buffers[0] = Buffer(base=BASE, pitch=128, height=1, format=DataFormat.UINT16_1, tiling=tiling)
    fetches.x[:] = 8
    memory, simulation = filled(), new("default")
    run(simulation, memory, fetches)
    result = run(simulation, memory, fetches)
    check(result, memory, fetches)
    np.testing.assert_array_equal(result.clients[0].offered, np.arange(50) + LATENCY)


@pytest.mark.parametrize("latency", [1, 2, 30])
def test_a_miss_takes_eight_cycles_more_than_memory(latency):
    memory, fetches = filled(), row_of_pairs(1, 4)
    result = run(new("default"), memory, fetches, timing=Timing(latency=latency))
    check(result, memory, fetches)
    assert result.clients[0].offered[0] == 4 + latency + 4


def test_a_line_in_flight_is_requested_once():
    memory, fetches = filled(), row_of_pairs(60, 0)
    result = run(new("default"), memory, fetches, timing=Timing(latency=100))
    check(result, memory, fetches)
    assert (len(result.lines), result.hits, result.misses) == (1, 59, 1)


@ON_CONFIGS
def test_as_many_lines_are_in_flight_as_may_be(name):
    memory, fetches = filled(), row_of_pairs(200, 16)
    result = run(new(name), memory, fetches, timing=Timing(latency=200))
    check(result, memory, fetches)
    assert result.most_in_flight == CONFIGS[name][1]


def test_missing_lines_come_in_each_cycle():
    memory, fetches = filled(), row_of_pairs(200, 16)
    result = run(new("default"), memory, fetches, timing=Timing(latency=40))
    check(result, memory, fetches)
    np.testing.assert_array_equal(np.diff(result.clients[0].offered), 1)


def test_lines_stay_until_they_are_invalidated():
    old, changed, fetches = filled(1), filled(2), row_of_pairs(100, 4)
    simulation = new("default")
    for memory, seen, invalidates in ((old, old, False), (changed, old, False), (changed, changed, True)):
        check(run(simulation, memory, fetches, invalidates=invalidates), seen, fetches)


@ON_CONFIGS
def test_uncached_fetches_bypass_the_cache(name):
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
@ON_CONFIGS
def test_fetches_of_lines_with_an_error_have_an_error(name, timing):
    memory, fetches = random_fetches(7, 3000, LANES)
    lines = np.where(fetches.addresses() >= 0, fetches.addresses() // LINE, -1)
    # A fifth of the lines that are read.
    chosen = [int(line) for line in np.unique(lines[lines >= 0])[::5]]
    expected = np.asarray(np.isin(lines, chosen).any(axis=(1, 2)))
    assert 200 < expected.sum() < 2800
    simulation, ranges = new(name), [(line, line + 1) for line in chosen]
    for _ in range(2):
        check(run(simulation, memory, fetches, timing=TIMINGS[timing], error_lines=ranges), memory, fetches, expected)
    # Nothing of it remains.
    check(run(simulation, memory, fetches, timing=TIMINGS[timing]), memory, fetches)


def test_a_line_with_an_error_is_requested_again():
    memory, fetches, simulation = filled(), row_of_pairs(1, 0), new("default")
    line = BASE // LINE
    for _ in range(2):
        result = run(simulation, memory, fetches, error_lines=[(line, line + 1)])
        check(result, memory, fetches, True)
        assert result.lines.tolist() == [line << 1]


@ON_CONFIGS
def test_a_reset_leaves_nothing(name):
    simulation, reference = new(name), ReferenceCache(CONFIGS[name][0])
    for seed in range(3):
        memory, fetches = random_fetches(seed, 1000, LANES)
        result = run(simulation, memory, fetches)
        check(result, memory, fetches)
        assert result.lines.tolist() == reference.requests(fetches)
        simulation.reset()
        # Lines are invalidated, round-robin pointers are kept.
        reference.invalidate()
