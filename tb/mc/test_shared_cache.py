"""The second level of the input cache, compiled, alone and after first levels, against memory and the golden model."""

from functools import cache

import numpy as np
import pytest

from ctm.rtl.config import CacheConfig, SharedCacheConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.mc.inputs.caches import InputCaches
from ctm.rtl.mc.inputs.shared_cache import SharedCache
from ctm.sim.memory import Memory
from ctm.tb.lib.some import fewer, only
from ctm.tb.mc.cache_simulation import CacheRun, CacheSimulation, Timing
from ctm.tb.mc.fetches import LINE, TAG_BITS, Fetches, filled, random_fetches, row_of_pairs, tag

pytestmark = pytest.mark.slow

LINE_WORDS = LINE // 4
LATENCY = 3
CORES, LANES = 2, 4
CONFIGS = {
    "smallest": (SharedCacheConfig(sets=1, ways=1), 1),
    "small": (SharedCacheConfig(sets=4, ways=2), 8),
    "default": (SharedCacheConfig(sets=128, ways=4), 64),
    "banks": (SharedCacheConfig(sets=128, ways=4, banks=2), 64),
    "small banks": (SharedCacheConfig(sets=16, ways=1, banks=4), 8),
}
REQUESTERS = {"smallest": 1, "small": 3, "default": 4, "banks": 3, "small banks": 4}
"""One number for each configuration, because each takes a model."""
ON_CONFIGS = pytest.mark.parametrize("name", only(CONFIGS, ("small banks",)))
WITH_FIRST_LEVELS = only(("small", "default", "small banks"), ("default",))
FIRST = CacheConfig(sets=4, ways=2)
TIMINGS = {
    "ideal": Timing(),
    "far": Timing(latency=50),
    "some_stalls": Timing(latency=10, jitter=10, stall=0.3, seed=1),
    "many_stalls": Timing(latency=2, jitter=3, stall=0.8, seed=2),
}


@cache
def compiled(name: str) -> CacheSimulation:
    config, outstanding = CONFIGS[name]
    cache = SharedCache(config, requesters=REQUESTERS[name], outstanding=outstanding)
    return CacheSimulation(cache, outstanding=outstanding, tagged=True)


def new(name: str) -> CacheSimulation:
    """A cache in which there is nothing."""
    simulation = compiled(name)
    simulation.renew()
    return simulation


def filled_lines(seed: int) -> Memory:
    memory = Memory()
    memory.write(0, np.random.default_rng(seed).bytes(1024 * LINE))
    return memory


def requests(name: str, lines: np.ndarray, uncached: np.ndarray | bool = False) -> list[int]:
    """The request of a line, with tags in rotation."""
    tags = np.arange(lines.size) % CONFIGS[name][1]
    return (lines | np.broadcast_to(uncached, lines.shape).astype(int) << 26 | tags << 27).tolist()


def all_requesters(name: str, *lines: np.ndarray) -> list[np.ndarray]:
    """The requests of each requester: these lines, and none of the others."""
    return [*lines, *[np.arange(0)] * (REQUESTERS[name] - len(lines))][: REQUESTERS[name]]


def check(result: CacheRun, memory: Memory, lines: list[np.ndarray], error: tuple[int, int] = (0, 0)) -> None:
    """Each requester got its lines, with errors for those in the range."""
    content = memory.view(np.uint32).reshape(-1, LINE_WORDS)
    for client, wanted in zip(result.clients, lines, strict=True):
        had_error = (client.responses[:, LINE_WORDS] & 1).astype(bool)
        np.testing.assert_array_equal(had_error, (wanted >= error[0]) & (wanted < error[1]))
        good = ~had_error
        np.testing.assert_array_equal(client.responses[good, :LINE_WORDS], content[wanted[good]])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.parametrize("timing", TIMINGS)
@ON_CONFIGS
def test_random_lines(name, timing, seed):
    generator, requesters, count = np.random.default_rng(seed), REQUESTERS[name], fewer(2000)
    memory = filled_lines(1)
    lines = [generator.integers(0, generator.choice([4, 64, 1024]), count) for _ in range(requesters)]
    uncached = [generator.random(count) < 0.1 for _ in range(requesters)]
    sent = [requests(name, *each) for each in zip(lines, uncached, strict=True)]
    result = new(name).run(memory, sent, timing=TIMINGS[timing], error_lines=[(30, 40)])
    check(result, memory, lines, (30, 40))
    assert result.hits + result.misses + np.sum(uncached) == count * requesters
    assert result.misses + np.sum(uncached) == len(result.lines)
    assert np.count_nonzero(result.lines & 1) == np.sum(uncached)


def test_lines_that_are_there_come_in_each_cycle():
    memory, simulation, lines = filled_lines(2), new("default"), all_requesters("default", np.arange(200))
    sent = [requests("default", each) for each in lines]
    simulation.run(memory, sent, timing=Timing())
    result = simulation.run(memory, sent, timing=Timing())
    check(result, memory, lines)
    np.testing.assert_array_equal(result.clients[0].responded, lines[0] + LATENCY)
    assert (result.hits, result.misses) == (200, 0)


def test_requesters_are_served_round_robin():
    memory, simulation, lines = filled_lines(3), new("default"), [np.arange(100) + 100 * each for each in range(4)]
    sent = [requests("default", each) for each in lines]
    simulation.run(memory, sent, timing=Timing())
    result = simulation.run(memory, sent, timing=Timing())
    check(result, memory, lines)
    for number, client in enumerate(result.clients):
        np.testing.assert_array_equal(client.taken, 4 * np.arange(100) + number)


def test_a_line_that_all_want_is_requested_once():
    memory, lines = filled_lines(4), 4 * [np.arange(100)]
    result = new("default").run(memory, [requests("default", each) for each in lines], timing=Timing(latency=200))
    check(result, memory, lines)
    assert sorted(result.lines.tolist()) == [line << 1 for line in range(100)]
    assert (result.hits, result.misses) == (300, 100)


def test_banks_serve_a_line_each_in_a_cycle():
    # All requesters begin in one bank; after the first conflicts each is in another one.
    memory, simulation, lines = filled_lines(9), new("small banks"), 4 * [np.tile(np.arange(16), 20)]
    sent = [requests("small banks", each) for each in lines]
    result = simulation.run(memory, sent, timing=Timing())
    check(result, memory, lines)
    result = simulation.run(memory, sent, timing=Timing())
    check(result, memory, lines)
    assert max(client.responded[-1] for client in result.clients) < 320 * 1.1


@ON_CONFIGS
def test_as_many_lines_are_in_flight_as_may_be(name):
    # All in one bank.
    banks = CONFIGS[name][0].banks
    memory, lines = filled_lines(5), all_requesters(name, banks * np.arange(100), banks * np.arange(100, 200))
    result = new(name).run(memory, [requests(name, each) for each in lines], timing=Timing(latency=200))
    check(result, memory, lines)
    assert result.most_in_flight == CONFIGS[name][1]


def test_lines_stay_until_they_are_invalidated():
    old, changed, lines = filled_lines(6), filled_lines(7), all_requesters("default", np.arange(100))
    simulation, sent = new("default"), [requests("default", each) for each in lines]
    for memory, seen, invalidates in ((old, old, False), (changed, old, False), (changed, changed, True)):
        result = simulation.run(memory, sent, timing=Timing(), invalidates=invalidates)
        check(result, seen, lines)
    past = [requests("default", each, True) for each in lines]
    assert simulation.run(filled_lines(8), past, timing=Timing()).hits == 0


@cache
def both_levels(name: str) -> CacheSimulation:
    second, outstanding = CONFIGS[name]
    caches = InputCaches(FIRST, second, cores=CORES, lanes=LANES, tag=TAG_BITS, outstanding=outstanding)
    return CacheSimulation(caches, outstanding=outstanding)


def selected(fetches: Fetches, chosen: slice) -> Fetches:
    return Fetches(
        buffers=fetches.buffers,
        **{name: getattr(fetches, name)[chosen] for name in ("input", "uncached", "x", "y", "fetch")},
    )


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", WITH_FIRST_LEVELS)
def test_random_fetches_through_both_levels(name, timing):
    count = 1500
    memory, fetches = random_fetches(11, CORES * count, LANES)
    simulation = both_levels(name)
    simulation.renew()
    by_core = [selected(fetches, slice(core * count, (core + 1) * count)) for core in range(CORES)]
    for _ in range(2):
        sent = [each.payloads() for each in by_core]
        result = simulation.run(memory, sent, inputs=fetches.inputs(), timing=TIMINGS[timing])
        for client, each in zip(result.clients, by_core, strict=True):
            rows, expected = client.responses, each.words(memory)
            assert rows[:, 0].tolist() == [tag(number) for number in range(count)]
            assert not rows[:, -1].any()
            words = rows[:, 1:-1].reshape(-1, LANES, CHANNELS)
            np.testing.assert_array_equal(np.where(each.fetch[..., None], words, 0), expected)
    assert np.count_nonzero(~result.lines & 1) < result.misses


def test_a_line_that_several_cores_read_is_requested_once():
    memory, fetches = filled(), row_of_pairs(200, 4)
    simulation = both_levels("default")
    simulation.renew()
    for wanted in (50, 0):
        result = simulation.run(
            memory, CORES * [fetches.payloads()], inputs=fetches.inputs(), timing=Timing(latency=30)
        )
        assert len(np.unique(result.lines)) == len(result.lines) == wanted
        # The first levels are too small for the row.
        assert result.misses == 50 * CORES


def test_a_line_of_the_second_level_takes_eleven_cycles():
    memory, fetches = filled(), row_of_pairs(1, 4)
    simulation = both_levels("default")
    simulation.renew()
    cycles = []
    for core in (0, 1):
        sent = [fetches.payloads() if each == core else [] for each in range(CORES)]
        result = simulation.run(memory, sent, inputs=fetches.inputs(), timing=Timing(latency=20))
        cycles.append(int(result.clients[core].offered[0]))
    assert cycles == [4 + 2 + 20 + 2 + 4, 11]
