"""The memory of a compiled core, alone, against the golden model."""

import ctypes

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import fetch_addresses, read_at, write
from ctm.sim.memory import Memory
from ctm.tb.lib.words import CORNERS, random_words
from ctm.tb.r5xx.simulation.cases import CONDITIONAL, FLOAT4, filled, launch_of, simulation
from ctm.tb.r5xx.simulation.launch import Arrays, copied, memory_setup

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("tiling", Tiling)
@pytest.mark.parametrize("data_format", DataFormat)
def test_fetches_read_what_the_golden_model_reads(data_format: DataFormat, tiling: Tiling) -> None:
    generator = np.random.default_rng(data_format.value * 4 + tiling.value)
    for base, pitch, height in ((0x800, 100, 77), (0x8000_0000, 4096, 0), (0xFFFF_F000, 64, 64), (0x1000, 8188, 8191)):
        buffer = Buffer(base=base, pitch=pitch, height=height, tiling=tiling, format=data_format)
        x = generator.integers(0, buffer.width_limit, 500)
        y = generator.integers(0, buffer.height_limit, 500)
        x[:2], y[:2] = buffer.width_limit - 1, (0, buffer.height_limit - 1)
        memory = Memory()
        addresses = fetch_addresses(buffer, x, y)
        for address in addresses:
            for byte in range(buffer.element.element_bytes):
                memory.bytes[address + byte] = generator.integers(0, 256, address.size)
        memory.respond_with_errors(int(addresses[0][7]), int(addresses[0][7]) + 1)
        launch = launch_of(memory, source=buffer)
        reads = [read_at(memory, buffer, address) for address in addresses]
        expected = np.stack([read[0] for read in reads]) if buffer.is_2x2 else reads[0]
        errors = [memory.errors(a, buffer.element.element_bytes) for a in addresses]
        error = np.any([each for each in errors if each is not None], axis=0)
        found, failed = fetch(launch, x, y)
        assert np.array_equal(failed, error)
        assert error[7]
        assert np.array_equal(found[~failed].T, expected.view(np.uint32)[:, ~failed])


def fetch(
    launch: Launch, x: np.ndarray, y: np.ndarray, *, current: Memory | None = None, uncached: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    arrays, library = Arrays(), simulation().library
    setup = memory_setup(launch, current or launch.memory, arrays)
    elements, error = np.zeros((x.size, 4), np.uint32), np.zeros(x.size, np.uint8)
    pointers = (arrays.pointer(x, np.uint32), arrays.pointer(y, np.uint32))
    library.memory_fetch(
        ctypes.byref(setup), 5, uncached, x.size, *pointers, elements.ctypes.data, error.ctypes.data
    )  # fmt: skip
    return elements, error.astype(bool)


def test_uncached_fetches_read_memory_as_it_is_and_cached_ones_as_it_was() -> None:
    then, now = filled(1), filled(2)
    x, y = np.arange(16), np.arange(16) % 8
    launch = launch_of(then)
    for uncached, memory in ((False, then), (True, now)):
        found, _ = fetch(launch, x, y, current=now, uncached=uncached)
        expected = read_at(memory, FLOAT4, element_address(FLOAT4, x, y))
        assert np.array_equal(found.T, expected.view(np.uint32))


@pytest.mark.parametrize("mask", [(True,) * 4, (False, True, True, False)])
@pytest.mark.parametrize("data_format", DataFormat)
def test_stores_write_what_the_golden_model_writes(data_format: DataFormat, mask: tuple[bool, ...]) -> None:
    generator = np.random.default_rng(data_format.value)
    words = np.concatenate([CORNERS, random_words(2000, 5), near_one(2000)])
    words = words[: words.size // 4 * 4].reshape(-1, 4)
    for tiling, pitch, height in ((Tiling.LINEAR, 100, 50), (Tiling.TILED, 128, 64), (Tiling.LINEAR, 0, 5)):
        target = Buffer(base=0xFFFF_F800, pitch=pitch, height=height, tiling=tiling, format=data_format)
        x, y = generator.integers(0, 120, len(words)), generator.integers(0, 60, len(words))
        masks = generator.integers(0, 16, len(words))
        memory = Memory()
        memory.respond_with_errors(0x2000, 0x2003)
        arrays = Arrays()
        result = Memory()
        setup = memory_setup(launch_of(memory, targets=(target,) * 4, mask=mask), result, arrays)
        pointers = [arrays.pointer(array, np.uint32) for array in (x, y, words)]
        simulation().library.memory_store(
            ctypes.byref(setup), 2, len(words), *pointers, arrays.pointer(masks, np.uint8)
        )
        golden = Memory()
        golden.respond_with_errors(0x2000, 0x2003)
        bits = (masks[None] >> np.arange(4)[:, None] & 1).astype(bool) & np.array(mask)[:, None]
        for k in range(len(words)):
            one = slice(k, k + 1)
            write(golden, target, x[one], y[one], words[one].T.copy().view(np.float32), bits[:, one])
        for first, end in ((0, 1 << 20), (0xFFFF_0000, 1 << 32)):
            assert np.array_equal(result.bytes[first:end], golden.bytes[first:end])
        assert golden.bytes[0xFFFF_F800:].any() == (pitch > 0 and (mask[0] or target.element.channels > 1))


def near_one(count: int) -> np.ndarray:
    """Words whose integers are ties, or near ties."""
    steps = np.random.default_rng(9).integers(0, 1 << 17, count)
    exact = (steps.astype(np.float32) * np.float32(0.5) / np.float32(65535)).view(np.uint32)
    return exact + np.random.default_rng(8).integers(-1, 2, count).astype(np.uint32)


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("data_format", [DataFormat.UINT16_1, DataFormat.FLOAT32_1])
@pytest.mark.parametrize("test", ConditionalTest)
def test_tests_pass_and_store_as_in_the_golden_model(
    test: ConditionalTest, data_format: DataFormat, enabled: bool
) -> None:
    buffer = Buffer(base=CONDITIONAL, pitch=96, height=40, format=data_format)
    unit = ConditionalUnit(buffer=buffer, test=test, write_enabled=enabled)
    stored = np.tile(CORNERS, CORNERS.size)
    values = np.repeat(CORNERS, CORNERS.size)
    pair = np.arange(stored.size)
    x, y = pair % 100, pair // 96
    memory = Memory()
    memory.write(CONDITIONAL, stored.tobytes())
    memory.respond_with_errors(CONDITIONAL + 64, CONDITIONAL + 70)
    result, arrays = copied(memory, [(CONDITIONAL, CONDITIONAL + stored.nbytes)]), Arrays()
    setup = memory_setup(launch_of(memory, conditional=unit), result, arrays)
    pointers = [arrays.pointer(array, np.uint32) for array in (x, y, values)]
    found = np.zeros(x.size, np.uint8)
    simulation().library.memory_test(ctypes.byref(setup), x.size, *pointers, found.ctypes.data)
    for k in range(x.size):
        one = slice(k, k + 1)
        operands = x[one], y[one], values[one].view(np.float32)
        passed, kept = unit.decide(memory, *operands)
        if kept[0]:
            unit.store(memory, *operands)
        assert found[k] == passed[0], (x[k], y[k], hex(values[k]))
    assert np.array_equal(result.bytes[CONDITIONAL:][:0x10000], memory.bytes[CONDITIONAL:][:0x10000])
