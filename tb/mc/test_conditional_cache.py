"""The cache of the conditional buffer, compiled after the conditional unit: lines, bytes, errors and resets."""

import numpy as np
import pytest

from ctm.rtl.co.unit import passenger_layout
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.mc.conditional.cache import ConditionalCache
from ctm.sim.golden.co.unit import FORMATS, ConditionalUnit
from ctm.sim.golden.mc.address import element_address
from ctm.tb.co.bench import BASE, COMPARISONS, CONFIGS, TILINGS, TIMINGS, Bench, conditional_unit
from ctm.tb.co.wavefronts import LINE, Wavefronts, no_wavefronts, random_wavefronts
from ctm.tb.mc.cache_simulation import Timing
from ctm.tb.mc.fetches import ReferenceCache

FIRST_LINE = BASE // LINE
ALWAYS, LESS = ConditionalTest.ALWAYS, ConditionalTest.LESS


def addresses(unit: ConditionalUnit, wavefronts: Wavefronts) -> np.ndarray:
    """The addresses of pairs that exist, in the order in which they are tested."""
    x, y = wavefronts.x[wavefronts.mask], wavefronts.y[wavefronts.mask]
    exists = (x < unit.buffer.width_limit) & (y < unit.buffer.height_limit)
    return element_address(unit.buffer, x[exists], y[exists])


def pairs_of_a_row(columns: range, value: float, lanes: int = 4) -> Wavefronts:
    """One wavefront for each column of row 0, with one lane."""
    i = np.array(columns)
    shape = (len(i), lanes)
    values = np.full(shape, np.float32(value)).view(np.uint32)
    mask = np.zeros(shape, bool)
    mask[np.arange(len(i)), i % 2] = True
    return Wavefronts(i=i // 2 * 2, j=0 * i, mask=mask, values=values)


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_each_line_is_requested_once_while_it_is_there(name, timing):
    """The requested lines do not depend on the latencies of memory and clients."""
    lanes, config = CONFIGS[name][:2]
    bench, generator = Bench(name), np.random.default_rng(7)
    unit = conditional_unit(LESS, stores=True, data_format=FORMATS[len(timing) % 2], tiling=TILINGS[len(name) % 2])
    bench.fill(unit, generator)
    wavefronts, reference = random_wavefronts(generator, 400, lanes, width=64, height=24), ReferenceCache(config)
    result = bench.run(unit, wavefronts, timing=TIMINGS[timing])
    lines = addresses(unit, wavefronts) // LINE
    assert result.reads.tolist() == [line for line in lines.tolist() if reference.requests_line(line, uncached=False)]
    assert (result.hits, result.misses) == (reference.hits, reference.misses)
    assert reference.hits > 100 and reference.misses > 20


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_only_written_is_not_read(name, data_format):
    bench, generator = Bench(name), np.random.default_rng(8)
    unit = conditional_unit(ALWAYS, stores=True, data_format=data_format)
    bench.fill(unit, generator)
    wavefronts = random_wavefronts(generator, 400, bench.lanes, width=64, height=24)
    result = bench.run(unit, wavefronts, timing=TIMINGS["some_stalls"], flushes=True)
    bench.compare_memory(unit, result)
    assert result.reads.size == 0 and result.writes.size > 20
    assert written_bytes(result.writes, result.masks) == stored_bytes(unit, addresses(unit, wavefronts))


def written_bytes(lines: np.ndarray, masks: np.ndarray) -> set[int]:
    return {
        line * LINE + byte
        for line, mask in zip(lines.tolist(), masks.tolist(), strict=True)
        for byte in range(LINE)
        if mask >> byte & 1
    }


def stored_bytes(unit: ConditionalUnit, stored: np.ndarray) -> set[int]:
    size = unit.buffer.element.element_bytes
    return {address + byte for address in set(stored.tolist()) for byte in range(size)}


@pytest.mark.parametrize("data_format", FORMATS)
def test_a_write_back_has_the_bytes_that_were_stored(data_format):
    bench, generator = Bench("smallest"), np.random.default_rng(9)
    unit = conditional_unit(ConditionalTest.GREATER, stores=True, data_format=data_format)
    bench.fill(unit, generator)
    wavefronts = random_wavefronts(generator, 300, 4, width=64, height=24)
    result = bench.run(unit, wavefronts)
    result_of_flush = bench.run(unit, no_wavefronts(4), flushes=True)
    bench.compare_memory(unit)
    lines, masks = (np.concatenate(logs) for logs in zip(
        (result.writes, result.masks), (result_of_flush.writes, result_of_flush.masks), strict=True
    ))  # fmt: skip
    written = written_bytes(lines, masks)
    assert written and written < stored_bytes(unit, addresses(unit, wavefronts))


@pytest.mark.parametrize("data_format", FORMATS)
def test_bytes_that_are_not_there_come_around_those_that_were_written(data_format):
    bench, unit = Bench(), conditional_unit(ALWAYS, stores=True, data_format=data_format)
    bench.fill(unit, np.random.default_rng(10))
    elements = LINE // unit.buffer.element.element_bytes
    assert bench.run(unit, pairs_of_a_row(range(3, 7), 0.75)).reads.size == 0
    unit.test = ConditionalTest.EQUAL
    around = bench.run(unit, pairs_of_a_row(range(elements), 0.75), timing=TIMINGS["uneven"])
    assert around.reads.tolist() == [FIRST_LINE]
    assert np.count_nonzero(around.clients[0].passed[3:7]) == 4
    bench.compare_memory(unit, bench.run(unit, no_wavefronts(4), flushes=True))


def test_an_invalidate_drops_what_is_not_dirty():
    """Columns 0 to 3 are dirty; the host changes all others of the line."""
    bench, unit = Bench(), conditional_unit(LESS, stores=True)
    bench.load(BASE, np.full(16, 0.5, np.float32).tobytes())
    bench.run(unit, pairs_of_a_row(range(4), 0.25))
    changed = np.full(12, 0.125, np.float32).tobytes()
    bench.hardware.write(BASE + 16, changed)
    kept = bench.run(unit, pairs_of_a_row(range(16), 0.375))
    assert kept.reads.size == 0 and np.flatnonzero(kept.clients[0].passed).tolist() == list(range(4, 16))


def test_a_line_that_is_clean_and_dirty_keeps_the_dirty_bytes():
    bench, unit = Bench(), conditional_unit(LESS, stores=True)
    bench.load(BASE, np.full(16, 0.5, np.float32).tobytes())
    bench.run(unit, pairs_of_a_row(range(4), 0.25))
    for memory in (bench.hardware, bench.golden):
        memory.write(BASE + 16, np.full(12, 0.125, np.float32).tobytes())
    again = bench.run(unit, pairs_of_a_row(range(16), 0.1875), invalidates=True)
    assert again.reads.tolist() == [FIRST_LINE]
    assert np.flatnonzero(again.clients[0].passed).tolist() == [0, 1, 2, 3]
    flushed = bench.run(unit, no_wavefronts(4), flushes=True)
    bench.compare_memory(unit, flushed)
    assert (flushed.writes.tolist(), flushed.masks.tolist()) == ([FIRST_LINE], [0xFFFF])


def test_an_invalidate_writes_nothing_back():
    bench, unit = Bench(), conditional_unit(ALWAYS, stores=True)
    bench.run(unit, pairs_of_a_row(range(16), 0.25))
    assert bench.run(unit, no_wavefronts(4), invalidates=True).writes.size == 0
    assert not bench.hardware.words(BASE, 16).any()
    bench.compare_memory(unit, bench.run(unit, no_wavefronts(4), flushes=True))


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_lines_remain_after_a_flush_and_are_clean(name, timing):
    bench, unit = Bench(name), conditional_unit(LESS, stores=True)
    sets = CONFIGS[name][1].sets * CONFIGS[name][1].ways
    bench.load(BASE, np.full(64, 0.5, np.float32).tobytes())
    wavefronts = pairs_of_a_row(range(0, 16 * min(sets, 4)), 0.25, bench.lanes)
    first = bench.run(unit, wavefronts, flushes=True, timing=TIMINGS[timing])
    bench.compare_memory(unit, first)
    assert first.reads.size == first.writes.size == min(sets, 4)
    second = bench.run(unit, wavefronts, flushes=True, timing=TIMINGS[timing])
    assert second.reads.size == second.writes.size == 0 and second.misses == 0


@pytest.mark.parametrize("lines", [1, 4, 8, 16])
def test_a_flush_takes_two_cycles_for_each_line_and_once_the_latency(lines):
    bench, unit, latency = Bench(), conditional_unit(ALWAYS, stores=True, pitch=256), 10
    bench.run(unit, pairs_of_a_row(range(16 * lines), 0.25))
    full, empty = (
        bench.run(unit, no_wavefronts(4), flushes=True, commands=False, timing=Timing(latency=latency))
        for _ in range(2)
    )
    assert (full.writes.size, empty.writes.size) == (lines, 0)
    assert full.cycles - empty.cycles == 2 * lines + latency + 3


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_pair_whose_line_has_error_fails(name, timing):
    for seed, test in enumerate(COMPARISONS):
        bench, generator = Bench(name), np.random.default_rng(seed)
        unit = conditional_unit(test, stores=bool(seed % 2), data_format=FORMATS[seed // 2 % 2])
        bench.fill(unit, generator)
        wavefronts = random_wavefronts(generator, 150, bench.lanes, width=64, height=24)
        lines = np.unique(addresses(unit, wavefronts) // LINE)
        for line in lines[::3].tolist():
            bench.respond_with_errors(line, line + 1)
        result = bench.run(unit, wavefronts, timing=TIMINGS[timing], flushes=True)
        bench.compare_memory(unit, result)
        assert sorted(set((result.lost // LINE).tolist())) == lines[::3].tolist()
        assert not np.isin(result.writes, lines[::3]).any()
        # Nothing of it remains.
        bench.start_again()
        bench.compare_memory(unit, bench.run(unit, wavefronts, timing=TIMINGS[timing], flushes=True))


def test_a_line_with_an_error_is_requested_again_and_keeps_written_bytes():
    bench, unit = Bench(), conditional_unit(ALWAYS, stores=True)
    bench.load(BASE, np.full(16, 0.5, np.float32).tobytes())
    bench.run(unit, pairs_of_a_row(range(4), 0.75))
    bench.respond_with_errors(FIRST_LINE, FIRST_LINE + 1)
    unit.test, unit.write_enabled = ConditionalTest.EQUAL, False
    for _ in range(2):
        error = bench.run(unit, pairs_of_a_row(range(2, 12), 0.5), timing=TIMINGS["far"])
        assert error.reads.tolist() == [FIRST_LINE] and error.lost.tolist() == [BASE]
        assert not error.clients[0].passed.any()
    bench.respond_without_errors()
    flushed = bench.run(unit, pairs_of_a_row(range(16), 0.5), flushes=True)
    assert flushed.reads.tolist() == [FIRST_LINE] and np.count_nonzero(flushed.clients[0].passed) == 12
    bench.compare_memory(unit, flushed)


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_write_back_with_an_error_is_lost(name, timing):
    """Every second line; the golden model, which looks at each access, is told of it only afterwards."""
    bench, generator = Bench(name), np.random.default_rng(11)
    unit = conditional_unit(ALWAYS, stores=True)
    bench.fill(unit, generator)
    before = bench.hardware.read(BASE, 64 * 24 * 4)
    wavefronts = random_wavefronts(generator, 200, bench.lanes, width=64, height=24)
    lines = np.unique(addresses(unit, wavefronts) // LINE)
    bench.error_lines = [(line, line + 1) for line in lines[::2].tolist()]
    result = bench.run(unit, wavefronts, timing=TIMINGS[timing], flushes=True)
    error = np.isin(result.writes, lines[::2])
    assert (result.lost // LINE).tolist() == result.writes[error].tolist() and error.any()
    for line in lines[::2].tolist():
        offset = line * LINE - BASE
        bench.golden.write(line * LINE, before[offset : offset + LINE])
    bench.compare_memory(unit, result)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CONFIGS)
def test_each_error_is_reported_once(name, seed):
    """Lines are read and written back at once; memory has errors for all, and often responds to both in one cycle."""
    bench, generator = Bench(name), np.random.default_rng(seed)
    wavefronts = random_wavefronts(generator, 150, bench.lanes, width=64, height=24)
    writing, reading = (conditional_unit(test, stores=True) for test in (ALWAYS, LESS))
    bench.fill(writing, generator)
    first = bench.run(writing, wavefronts)
    everything = [(0, 1 << 26)]
    second = bench.simulation.run(
        bench.hardware, [wavefronts.payloads(), []], reading, timing=Timing(latency=4, jitter=seed, stall=0.2),
        error_lines=everything, flushes=True,
    )  # fmt: skip
    assert second.reads.size > 20 and second.writes.size > 0
    assert sorted(second.lost.tolist()) == sorted(
        line * LINE for line in [*second.reads.tolist(), *second.writes.tolist()]
    )
    assert first.lost.size == 0


@pytest.mark.parametrize("name", CONFIGS)
def test_a_reset_in_any_cycle_leaves_nothing(name):
    bench, generator = Bench(name), np.random.default_rng(12)
    unit = conditional_unit(LESS, stores=True)
    bench.fill(unit, generator)
    timing = Timing(latency=6, jitter=5, stall=0.3, seed=3)
    for cycle in range(1, 250, 3):
        wavefronts = random_wavefronts(generator, 30, bench.lanes, width=64, height=24)
        payloads = [wavefronts.payloads(), wavefronts.payloads()]
        bench.simulation.run(bench.hardware, payloads, unit, timing=timing, stop=cycle, flush_period=83)
        bench.simulation.reset()
        bench.start_again()
        result = bench.run(unit, wavefronts, wavefronts, timing=timing, flushes=True)
        bench.compare_memory(unit, result)
        reference = ReferenceCache(CONFIGS[name][1])
        lines = (addresses(unit, wavefronts) // LINE).tolist()
        reference_misses = sum(reference.requests_line(line, uncached=False) for line in lines)
        assert result.misses == reference_misses or CONFIGS[name][1].ways > 1
        bench.simulation.reset()


def test_a_reset_brings_back_the_state_that_tests_nothing():
    bench, unit = Bench(), conditional_unit(LESS, stores=False)
    bench.run(unit, no_wavefronts(4))
    bench.simulation.reset()
    unit.test = ALWAYS
    result = bench.run(unit, random_wavefronts(np.random.default_rng(0), 20, 4, width=64, height=8), commands=False)
    assert result.tests == (False, False)


@pytest.mark.parametrize("parameters", [{"outstanding": 1}, {"waiting": 1}])
def test_too_small_a_cache_has_error(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be at least 2, not 1"):
        ConditionalCache(passenger_layout(4), **parameters)
