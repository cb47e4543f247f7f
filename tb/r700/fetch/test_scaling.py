"""CoordinateScaling: coordinates times sizes, and differences in quads, of every pixel, in the cycles that it says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import R700
from ctm.rtl.r700.fetch.finders.scaling import CoordinateScaling
from ctm.rtl.r700.fetch.operation import Task
from ctm.rtl.r700.fetch.selection import PixelSelection
from ctm.rtl.r700.partition import Partition
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.fetch.looking import looking
from ctm.tb.r700.fetch.models import chosen, gradients, product

CHANNELS = 4
INSTRUCTIONS = 12
SIZES = (1, 2, 3, 255, 1000, 4095, 4096)


def results(context: Any, unit: Any, partition: Partition) -> np.ndarray:
    """Those of all passes, as [4][n]."""
    passes = []
    for number in range(partition.slice_passes):
        context.set(unit.pass_number, number)
        bits = context.get(Value.cast(unit.results))
        words = np.frombuffer(bits.to_bytes(4 * CHANNELS * partition.lanes, "little"), np.uint32)
        passes.append(words.reshape(CHANNELS, -1))
    return np.concatenate(passes, axis=1)


def check(seed: int, wavefront: int, count: int) -> None:
    """Instructions one after the other."""
    config = replace(R700, array=replace(R700.array, wavefront=wavefront))
    partition = Partition.of(config.array)
    unit: Any = CoordinateScaling(partition, config.arithmetic)
    selection: Any = PixelSelection(partition)
    top = looking(unit, selection)
    draw = np.random.default_rng(seed)

    async def run(context: Any) -> None:
        expected = np.zeros((CHANNELS, wavefront), np.uint32)
        for number in range(count):
            source = random_floats(draw, (CHANNELS, wavefront))
            coordinates = [int(select) for select in draw.choice([0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7], CHANNELS)]
            sizes = [int(draw.choice(SIZES)) for _ in range(2)]
            is_gradient, vertical = number % 3 == 1, bool(draw.integers(2))
            context.set(unit.sizes, sizes)
            context.set(Value.cast(selection.source), int.from_bytes(source.tobytes(), "little"))
            context.set(
                unit.fetch,
                {
                    "task": Task.GRADIENT if is_gradient else Task.SAMPLE,
                    "coordinates": coordinates,
                    "vertical": vertical,
                },
            )
            if is_gradient:
                expected = gradients(source, coordinates, vertical=vertical)
            else:
                for axis, size in enumerate(sizes):
                    expected[axis] = product(chosen(source, coordinates[axis]), size)
            cycles = wavefront * (2 if is_gradient else 1) + config.arithmetic.latency + 1
            context.set(unit.start, 1)
            for cycle in range(cycles):
                assert context.get(unit.done) == (cycle == cycles - 1), "it takes another time"
                await context.tick()
            context.set(unit.start, 0)
            if number % 3 == 2:
                await _store(context, expected)
            np.testing.assert_array_equal(results(context, unit, partition), expected, f"{coordinates}, {sizes}")

    async def _store(context: Any, expected: np.ndarray) -> None:
        """Another unit has results of some pixels."""
        for pixel in draw.permutation(wavefront)[: wavefront // 2]:
            expected[:, pixel] = words = draw.integers(0, 1 << 32, CHANNELS)
            context.set(unit.stores, 1)
            context.set(unit.pixel, int(pixel))
            context.set(unit.element, [int(word) for word in words])
            await context.tick()
        context.set(unit.stores, 0)

    simulate(top, run)


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, 4, INSTRUCTIONS)
    check(2, 16, INSTRUCTIONS // 2)


def test_coordinates_are_scaled() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 13))
def test_many_more_instructions(seed: int) -> None:
    check(seed, (4, 8, 16)[seed % 3], 500)
