"""The conditional unit and its cache, compiled: lanes that pass, and what is stored, as in the golden model."""

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.golden.co.unit import FORMATS, ConditionalUnit
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.tb.co.bench import BASE, COMPARISONS, CONFIGS, LOCATIONS, TESTS, TILINGS, TIMINGS, Bench, conditional_unit
from ctm.tb.co.wavefronts import CORNERS, Wavefronts, expected, no_wavefronts, random_contents, random_wavefronts
from ctm.tb.mc.cache_simulation import Timing


def check_random_wavefronts(bench: Bench, unit: ConditionalUnit, seed: int, count: int, timing: Timing) -> None:
    generator = np.random.default_rng(seed)
    bench.fill(unit, generator)
    size = {"width": max(4, unit.buffer.width_limit), "height": unit.buffer.height_limit}
    wavefronts, other = (random_wavefronts(generator, count, bench.lanes, **size) for _ in range(2))
    result = bench.run(unit, wavefronts, other, timing=timing, flushes=True)
    bench.compare_memory(unit, result)


@pytest.mark.slow
@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("test", TESTS)
def test_random_wavefronts(test, data_format, tiling):
    for number, (stores, location) in enumerate((stores, each) for stores in (False, True) for each in LOCATIONS):
        unit = conditional_unit(test, stores=stores, location=location, data_format=data_format, tiling=tiling)
        for name in ("default", "wide"):
            timing = list(TIMINGS.values())[(number + test.value) % len(TIMINGS)]
            check_random_wavefronts(Bench(name), unit, number, 250, timing)


@pytest.mark.slow
@pytest.mark.parametrize("timing", TIMINGS)
def test_random_wavefronts_with_the_smallest_cache(timing):
    for seed, test in enumerate(COMPARISONS):
        unit = conditional_unit(test, stores=True, data_format=FORMATS[seed % 2], tiling=TILINGS[seed // 2 % 2])
        check_random_wavefronts(Bench("smallest"), unit, seed, 200, TIMINGS[timing])


@pytest.mark.long
@pytest.mark.parametrize("name", CONFIGS)
def test_many_random_wavefronts(name):
    for seed in range(300):
        generator = np.random.default_rng(seed)
        pitch, height = 4 * int(generator.integers(0, 40)), int(generator.integers(1, 60))
        unit = conditional_unit(
            TESTS[seed % 8], stores=seed % 3 > 0, location=LOCATIONS[seed // 8 % 2],
            data_format=FORMATS[seed // 16 % 2], tiling=TILINGS[seed // 32 % 2], pitch=pitch, height=height,
        )  # fmt: skip
        latency, jitter = (int(generator.integers(1, 60)) for _ in range(2))
        timing = Timing(latency=latency, jitter=jitter, stall=float(generator.choice([0, 0.1, 0.5, 0.9])), seed=seed)
        check_random_wavefronts(Bench(name), unit, seed, 1500, timing)


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("test", COMPARISONS)
def test_every_corner_meets_every_corner(test, data_format, location):
    """Row y of the buffer has corner y everywhere, column x is tested with corner x."""
    count, bench = len(CORNERS), Bench()
    unit = conditional_unit(test, data_format=data_format, pitch=count, height=count, location=location)
    stored = CORNERS if data_format is DataFormat.FLOAT32_1 else np.array(
        [0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFD, 0xFFFE, 0xFFFF] * 4, np.uint16
    )[:count]  # fmt: skip
    bench.load(BASE, stored.repeat(count).tobytes())
    j, i = (index.ravel() * 2 for index in np.mgrid[0 : count // 2, 0 : count // 2])
    wavefronts = Wavefronts(i=i, j=j, mask=np.ones((i.size, 4), bool), values=CORNERS[i[:, None] + np.arange(4) % 2])
    result = bench.run(unit, wavefronts)
    lanes = np.unpackbits(result.clients[LOCATIONS.index(location)].passed).sum()
    assert 0 < lanes < 4 * i.size


@pytest.mark.parametrize("data_format", FORMATS)
def test_what_is_stored_are_the_bits_or_the_integer(data_format):
    count, bench = len(CORNERS), Bench()
    unit = conditional_unit(ConditionalTest.ALWAYS, stores=True, data_format=data_format, pitch=count, height=2)
    i = np.arange(0, count, 2)
    values = CORNERS[i[:, None] + np.arange(4) % 2]
    result = bench.run(
        unit, Wavefronts(i=i, j=0 * i, mask=np.ones((i.size, 4), bool), values=values), flushes=True
    )  # fmt: skip
    bench.compare_memory(unit, result)
    if data_format is DataFormat.FLOAT32_1:
        np.testing.assert_array_equal(bench.hardware.words(BASE, count), CORNERS)
    assert result.reads.size == 0


@pytest.mark.slow
@pytest.mark.parametrize("pitch", [0, 4, 8, 12, 20])
@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("tiling", TILINGS)
def test_narrow_and_illegal_pitches(tiling, data_format, pitch):
    """Rows may overlap, so that pairs share an element and each sees what the one before has stored."""
    for seed, test in enumerate((ConditionalTest.LESS, ConditionalTest.GREATER_EQUAL, ConditionalTest.ALWAYS)):
        unit = conditional_unit(
            test, stores=True, data_format=data_format, tiling=tiling, pitch=pitch, height=12
        )  # fmt: skip
        for name in ("default", "wide", "smallest"):
            check_random_wavefronts(Bench(name), unit, seed, 150, Timing(latency=3, jitter=2, stall=0.2, seed=seed))


@pytest.mark.parametrize("timing", ["ideal", "some_stalls"])
@pytest.mark.parametrize("distance", range(1, 6))
@pytest.mark.parametrize("data_format", FORMATS)
def test_a_pair_sees_what_one_closely_before_it_has_stored(data_format, distance, timing):
    """Some elements in rotation, whose values fall every third time: only then is it less than the stored one."""
    unit, bench = conditional_unit(stores=True, data_format=data_format), Bench()
    bench.load(BASE, {DataFormat.FLOAT32_1: b"\x7f", DataFormat.UINT16_1: b"\xff"}[data_format] * 128)
    falls, times = 30, 3
    count = falls * times * distance
    falling = (0.9 - np.arange(falls) / 64).astype(np.float32).view(np.uint32).repeat(times * distance)
    i = np.tile(2 * np.arange(distance), falls * times)
    mask = np.broadcast_to(np.arange(4) == 0, (count, 4)).copy()
    wavefronts = Wavefronts(i=i, j=0 * i, mask=mask, values=np.broadcast_to(falling[:, None], mask.shape).copy())
    result = bench.run(unit, wavefronts, flushes=True, timing=TIMINGS[timing])
    bench.compare_memory(unit, result)
    passed = result.clients[0].passed.reshape(falls, times, distance)
    assert passed[:, 0].all() and not passed[:, 1:].any()


def test_the_reset_state_tests_nothing():
    bench = Bench()
    unit = ConditionalUnit(buffer=Buffer())
    wavefronts = random_wavefronts(np.random.default_rng(0), 50, 4, width=64, height=20)
    result = bench.run(unit, wavefronts, wavefronts, commands=False)
    assert (result.tests, result.format_legal, result.hits + result.misses) == ((False, False), True, 0)


@pytest.mark.parametrize("location", LOCATIONS)
def test_the_ports_have_the_state(location):
    bench = Bench()
    for data_format in DataFormat:
        for test in TESTS:
            for stores in (False, True):
                unit = ConditionalUnit(
                    buffer=Buffer(pitch=8, format=data_format), test=test, location=location, write_enabled=stores
                )
                result = bench.run(unit, no_wavefronts(4))
                assert result.format_legal == unit.format_is_legal
                touches = unit.reads_buffer or unit.may_write_buffer or test is ConditionalTest.NEVER
                assert result.tests == tuple(touches and each is location for each in LOCATIONS)


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_command_changes_requests_after_it(timing):
    """Commands are offered while wavefronts are in flight: those that were taken before see the old state."""
    bench, generator = Bench(), np.random.default_rng(6)
    old, new = conditional_unit(ConditionalTest.LESS), conditional_unit(ConditionalTest.GREATER)
    bench.fill(old, generator)
    wavefronts = random_wavefronts(generator, 120, 4, width=64, height=24)
    bench.run(old, no_wavefronts(4))
    result = bench.simulation.run(
        bench.hardware, [wavefronts.payloads(), []], new, timing=TIMINGS[timing], commands_from=100
    )  # fmt: skip
    taken, passed = result.clients[0].taken, result.clients[0].passed
    count = np.count_nonzero(taken < result.commanded)
    assert 10 < count < 110 and not (taken == result.commanded).any()
    for unit, span in ((old, slice(0, count)), (new, slice(count, None))):
        masks, _ = expected(unit, bench.golden, wavefronts[span], unit.location)
        np.testing.assert_array_equal(passed[span], masks)


@pytest.mark.slow
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize(("name", "data_format"), list(zip(CONFIGS, (*FORMATS, FORMATS[1]), strict=True)))
def test_runs_follow_each_other(name, data_format, timing):
    """State and lines are kept; the host changes memory after a flush, and clean lines without one."""
    bench, generator = Bench(name), np.random.default_rng(5)
    unit = conditional_unit(stores=True, data_format=data_format)
    bench.fill(unit, generator)
    for number in range(12):
        unit.test = TESTS[int(generator.integers(1, 8))]
        unit.location = LOCATIONS[int(generator.integers(0, 2))]
        unit.write_enabled = bool(generator.integers(0, 4))
        wavefronts, other = (random_wavefronts(generator, 100, bench.lanes, width=64, height=24) for _ in range(2))
        flushes, invalidates = bool(generator.integers(0, 2)), number and bool(generator.integers(0, 2))
        if invalidates:
            change_memory(bench, unit, generator)
        result = bench.run(
            unit, wavefronts, other, timing=TIMINGS[timing], flushes=flushes, invalidates=invalidates,
            flush_period=int(generator.choice([0, 0, 97])),
        )  # fmt: skip
        if flushes:
            bench.compare_memory(unit, result)
    bench.run(unit, no_wavefronts(bench.lanes), flushes=True)
    bench.compare_memory(unit)


def change_memory(bench: Bench, unit: ConditionalUnit, generator: np.random.Generator) -> None:
    """The host writes half of the elements, but none that memory does not have yet."""
    size, bytes_ = extent(unit.buffer), unit.buffer.element.element_bytes
    chosen = generator.random(size // bytes_) < 0.5
    for stored in bench.stored:
        chosen[(stored - BASE) // bytes_] = False
    element = {2: np.uint16, 4: np.uint32}[bytes_]
    fresh = np.frombuffer(random_contents(generator, unit.buffer.format, size), element)
    for memory in (bench.hardware, bench.golden):
        memory.view(element)[BASE // bytes_ :][: size // bytes_][chosen] = fresh[chosen]
